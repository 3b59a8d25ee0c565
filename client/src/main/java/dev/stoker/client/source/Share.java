package dev.stoker.client.source;

import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.Position;
import dev.stoker.schemas.order.delivery.SkippedBatches;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.util.OptionalInt;

/**
 * The steps of one rank in an epoch that begins at {@code start}, and the steps of one of its workers. With {@code
 * concat} k each step takes k batches, so that W ranks read the epoch like k · W ranks. With a limit there are at most
 * that many steps. The ranks divide the batches that are left by {@code skipped}.
 */
public record Share(
        EpochSize size,
        TailPolicy tail,
        long start,
        Participant participant,
        int concat,
        OptionalInt limit,
        SkippedBatches skipped) {
    /** The whole share, without the limit. */
    public Share whole() {
        return new Share(size, tail, start, participant, concat, OptionalInt.empty(), skipped);
    }

    private long world() {
        return participant.worldSize();
    }

    /** The slot where the epoch begins. */
    private long begin() {
        return skipped.slot(start);
    }

    /** The rank's first slot. */
    private long first() {
        return begin() + Math.floorMod(participant.rank() - begin(), world());
    }

    /** The batch numbers that all ranks together take in a step. */
    public long width() {
        return world() * concat;
    }

    /** Steps that the rank takes, over all its workers. */
    long rankSteps() {
        long steps = switch (tail) {
            case PAD -> ceilDiv(Math.max(0, skipped.left() - begin()), width());
            case DROP -> Math.max(0, skipped.wholeBatches(size) - begin()) / width();
            case KEEP -> ceilDiv(length(first(), skipped.left(), world()), concat);
        };
        return limit.isPresent() ? Math.min(steps, limit.getAsInt()) : steps;
    }

    /** Steps of this worker. */
    public long steps() {
        return length(participant.worker(), rankSteps(), participant.workers());
    }

    /** The number of parts in an epoch that begins at 0; the same for every rank. */
    public long parts() {
        if (limit.isEmpty()) {
            return 1;
        }
        long slots = tail == TailPolicy.DROP ? skipped.wholeBatches(size) / width() * width() : skipped.left();
        return Math.max(1, ceilDiv(slots, limit.getAsInt() * width()));
    }

    /**
     * This worker's virtual numbers. Under {@code pad}, the numbers of joined batches end at the last one that every
     * feeder knows; the rest of the last step repeats earlier parts.
     */
    public Span.Range range(long epoch) {
        long count = steps();
        long first = first() + participant.worker() * width();
        if (concat > 1) {
            long end = skipped.left() + (tail == TailPolicy.PAD ? world() : 0);
            count = length(first, Math.min(end, first + count * width()), world());
        }
        return new Span.Range(epoch, skipped.number(first), participant.stride(), count, tail, skipped);
    }

    /** The position after every rank and worker has taken this step; the same on all of them. */
    public Position after(long epoch, long step) {
        return afterRankStep(epoch, participant.worker() + step * participant.workers());
    }

    /** The position after the last step within the limit, regardless of a rank's own steps. */
    public Position afterLimit(long epoch) {
        return afterRankStep(epoch, limit.orElseThrow() - 1L);
    }

    private Position afterRankStep(long epoch, long rankStep) {
        long next = begin() + (rankStep + 1) * width();
        boolean ends = tail == TailPolicy.DROP ? skipped.wholeBatches(size) - next < width() : next >= skipped.left();
        return ends ? new Position(epoch + 1, 0) : new Position(epoch, skipped.number(next));
    }

    /** The number of values from {@code from} below {@code end}, {@code distance} apart. */
    private static long length(long from, long end, long distance) {
        return from >= end ? 0 : ceilDiv(end - from, distance);
    }

    private static long ceilDiv(long a, long b) {
        return a / b + (a % b == 0 ? 0 : 1);
    }
}
