package dev.stoker.schemas.order;

import java.util.ArrayList;
import java.util.List;

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
 */
public record Delivery(EpochSize size, TailPolicy tail, Participant participant, long start) {
    public Delivery {
        if (start < 0 || start > size.batches()) {
            throw new IllegalArgumentException("start " + start + " in an epoch of " + size.batches()
                    + " batches: the position belongs to other data or another batch size");
        }
    }

    /** Returns the first number of the participant's rank; past the end when the rank has no step. */
    public long rankFirst() {
        return start + Math.floorMod(participant.rank() - start, (long) participant.worldSize());
    }

    /** Returns the number of steps of the rank, over all its workers. */
    public long rankSteps() {
        long world = participant.worldSize();
        return switch (tail) {
            case PAD -> ceilDiv(size.batches() - start, world);
            case DROP -> Math.max(0, size.wholeBatches() - start) / world;
            case KEEP -> ceilDiv(Math.max(0, size.batches() - rankFirst()), world);
        };
    }

    /** Returns the first number of this worker. */
    public long first() {
        return rankFirst() + (long) participant.worker() * participant.worldSize();
    }

    /** Returns the distance between two numbers of this worker. */
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
        return first() + i * stride();
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
        long next = start + (rankStep + 1) * world;
        boolean ends = tail == TailPolicy.DROP ? size.wholeBatches() - next < world : next >= size.batches();
        return ends ? new Position(epoch + 1, 0) : new Position(epoch, next);
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
