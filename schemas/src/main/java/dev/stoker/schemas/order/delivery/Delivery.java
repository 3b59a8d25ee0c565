package dev.stoker.schemas.order.delivery;

import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.Piece;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Computes the batches that one participant receives in the epoch in which its run starts or resumes: numbers, steps,
 * tail and resume state. See section "Delivery" of {@code docs/formats/order.md}.
 *
 * <p>Rank r of W takes the numbers m ≡ r (mod W) from {@code start} on. Its worker w of K takes every K-th of those,
 * from the w-th. A number is <em>virtual</em>: under {@code pad} the numbers continue past the end of the epoch and
 * repeat batches.
 *
 * @param size the lengths of the epoch
 * @param tail the policy at the end of the epoch
 * @param participant the participant that receives the batches
 * @param start the first number that no rank has consumed: 0 … {@code size.batches()}
 * @param skipped the batches of the epoch that the group leaves out
 */
public record Delivery(EpochSize size, TailPolicy tail, Participant participant, long start, SkippedBatches skipped) {
    public Delivery {
        if (start < 0 || start > size.batches()) {
            throw new IllegalArgumentException("start " + start + " in an epoch of " + size.batches()
                    + " batches: the position belongs to other data or another batch size");
        }
    }

    /** Creates a delivery that leaves out no batch. */
    public Delivery(EpochSize size, TailPolicy tail, Participant participant, long start) {
        this(size, tail, participant, start, SkipList.NONE.in(0, size));
    }

    /** Returns the first number of the participant's rank; past the end when the rank has no step. */
    public long rankFirst() {
        return skipped.number(rankFirstSlot());
    }

    private long rankFirstSlot() {
        return startSlot() + Math.floorMod(participant.rank() - startSlot(), (long) participant.worldSize());
    }

    private long startSlot() {
        return skipped.slot(start);
    }

    /** Returns the number of steps of the rank, over all its workers. */
    public long rankSteps() {
        long world = participant.worldSize();
        return switch (tail) {
            case PAD -> ceilDiv(Math.max(0, skipped.left() - startSlot()), world);
            case DROP -> Math.max(0, skipped.wholeBatches(size) - startSlot()) / world;
            case KEEP -> ceilDiv(Math.max(0, skipped.left() - rankFirstSlot()), world);
        };
    }

    /** Returns the first number of this worker. */
    public long first() {
        return skipped.number(firstSlot());
    }

    private long firstSlot() {
        return rankFirstSlot() + (long) participant.worker() * participant.worldSize();
    }

    /** Returns the distance between two slots of this worker; without skipped batches, between two numbers. */
    public int stride() {
        return participant.stride();
    }

    /** Returns the number of steps of this worker. */
    public long steps() {
        return ceilDiv(Math.max(0, rankSteps() - participant.worker()), participant.workers());
    }

    /** Returns the virtual number of this worker's step {@code i}. */
    public long number(long i) {
        if (i < 0 || i >= steps()) {
            throw new IllegalArgumentException("step " + i + " of " + steps());
        }
        return skipped.number(firstSlot() + i * stride());
    }

    /** Returns the rank's step that corresponds to this worker's step {@code i}, for {@link #after}. */
    public long rankStep(long i) {
        return participant.worker() + i * participant.workers();
    }

    /**
     * Returns the position after the rank's step {@code rankStep} in {@code epoch}: the same on all ranks and workers.
     */
    public Position after(long epoch, long rankStep) {
        long world = participant.worldSize();
        long next = startSlot() + (rankStep + 1) * world;
        boolean ends = tail == TailPolicy.DROP ? skipped.wholeBatches(size) - next < world : next >= skipped.left();
        return ends ? new Position(epoch + 1, 0) : new Position(epoch, skipped.number(next));
    }

    /** Returns what another rank receives, without loader processes. */
    public Delivery of(int rank) {
        return new Delivery(size, tail, Participant.rank(rank, participant.worldSize()), start, skipped);
    }

    /** Returns the rank that takes a number. */
    public int rankOf(long number) {
        return (int) (skipped.slot(number) % participant.worldSize());
    }

    /** Returns the step of this worker that takes a number; empty if it takes the number in no step. */
    public OptionalLong stepOf(long number) {
        long distance = skipped.slot(number) - firstSlot();
        boolean isTaken =
                !skipped.contains(number) && distance >= 0 && distance % stride() == 0 && distance / stride() < steps();
        return isTaken ? OptionalLong.of(distance / stride()) : OptionalLong.empty();
    }

    /**
     * Returns the batch that a virtual number delivers. It does not depend on start, ranks and workers.
     *
     * @throws IllegalArgumentException if the number delivers nothing under this tail policy
     */
    public static DeliveredBatch batch(EpochNumbering numbering, TailPolicy tail, long number) {
        EpochSize size = numbering.size();
        long batches = size.batches();
        long end = tail == TailPolicy.DROP ? size.wholeBatches() : batches;
        if (number < 0 || batches == 0 || (tail != TailPolicy.PAD && number >= end)) {
            throw new IllegalArgumentException(
                    "number " + number + " delivers nothing: the epoch has " + end + " batches under " + tail);
        }
        long physical = tail == TailPolicy.PAD ? number % batches : number;
        boolean again = number >= batches;
        List<DeliveredPiece> pieces = new ArrayList<>();
        int rows = 0;
        for (Piece piece : numbering.batch(physical)) {
            pieces.add(new DeliveredPiece(piece.lane(), piece.firstRow(), piece.rows(), again));
            rows += piece.rows();
        }
        if (tail == TailPolicy.PAD) {
            fill(numbering, size.batchSize() - rows, pieces);
        }
        return new DeliveredBatch(number, physical, pieces);
    }

    /** Fills a short batch from batch 0, repeatedly if necessary: batch 0 is full, or it is the short batch itself. */
    private static void fill(EpochNumbering numbering, int missingRows, List<DeliveredPiece> pieces) {
        List<Piece> first = numbering.batch(0);
        int missing = missingRows;
        for (int i = 0; missing > 0; i = (i + 1) % first.size()) {
            Piece piece = first.get(i);
            int rows = Math.min(piece.rows(), missing);
            pieces.add(new DeliveredPiece(piece.lane(), piece.firstRow(), rows, true));
            missing -= rows;
        }
    }

    private static long ceilDiv(long a, long b) {
        return a / b + (a % b == 0 ? 0 : 1);
    }
}
