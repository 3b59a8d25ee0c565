package dev.stoker.client;

import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.delivery.Position;
import java.util.Arrays;
import java.util.List;

/**
 * The position at which a pass over an epoch resumes after a change of the batch size: the greatest position that is
 * preceded only by consumed samples. Lanes, windows and the rows within them do not depend on the batch size; only the
 * numbering does.
 *
 * @param position under the new size
 * @param repeats consumed samples after the position, which are repeated
 */
record Regrouping(Position position, long repeats) {
    /**
     * @param now the new order
     * @param batchSize the old batch size; everything else is equal
     * @param before the position under the old batch size
     * @throws IllegalArgumentException if the epoch had no such position
     */
    static Regrouping of(OrderSpec now, List<Long> laneRows, int batchSize, Position before) {
        long[] rows = laneRows.stream().mapToLong(Long::longValue).toArray();
        OrderSpec then = new OrderSpec(
                now.seed(),
                batchSize,
                now.lanes(),
                now.shuffleWindowBytes(),
                now.shuffle(),
                now.laneOrder(),
                now.where());
        Numbers old = new Numbers(then, rows, before.epoch());
        if (before.batch() > old.batches()) {
            throw new IllegalArgumentException("batch " + before.batch() + " of " + old.batches());
        }
        long[] taken = old.rowsBefore(before.batch());
        Numbers fresh = new Numbers(now, rows, before.epoch());
        long position = fresh.within(taken);
        long again = Arrays.stream(taken).sum()
                - Arrays.stream(fresh.rowsBefore(position)).sum();
        return new Regrouping(new Position(before.epoch(), position), again);
    }

    /** The numbering of an epoch for one batch size. */
    private static final class Numbers {
        private final long[] rows;
        private final long[] full;
        private final int size;
        private final EpochNumbering numbering;

        Numbers(OrderSpec spec, long[] rows, long epoch) {
            this.rows = rows;
            this.size = spec.batchSize();
            this.full = Arrays.stream(rows).map(lane -> lane / size).toArray();
            this.numbering = new EpochNumbering(spec, rows, epoch);
        }

        long batches() {
            return numbering.size().batches();
        }

        /** For each lane, the rows in the batches below a number. */
        long[] rowsBefore(long number) {
            long[] taken = new long[rows.length];
            if (number >= numbering.fullBatches()) {
                long joint = (number - numbering.fullBatches()) * size;
                for (int lane = 0; lane < rows.length; lane++) {
                    long rest = rows[lane] % size;
                    taken[lane] = full[lane] * size + Math.min(rest, joint);
                    joint -= Math.min(rest, joint);
                }
                return taken;
            }
            long round = roundOf(number);
            for (int lane = 0; lane < rows.length; lane++) {
                taken[lane] = Math.min(full[lane], round) * size;
            }
            for (long before = beforeRound(round); before < number; before++) {
                taken[laneOf(before)] += size;
            }
            return taken;
        }

        /** The greatest number below which every batch is within the first {@code taken} rows of its lanes. */
        long within(long[] taken) {
            long round = Long.MAX_VALUE;
            for (int lane = 0; lane < rows.length; lane++) {
                if (taken[lane] / size < full[lane]) {
                    round = Math.min(round, taken[lane] / size);
                }
            }
            if (round < Long.MAX_VALUE) {
                long number = beforeRound(round);
                while (Math.min(taken[laneOf(number)] / size, full[laneOf(number)]) > round) {
                    number++;
                }
                return number;
            }
            long joint = 0;
            for (int lane = 0; lane < rows.length; lane++) {
                long got = taken[lane] - full[lane] * size;
                if (got < rows[lane] % size) {
                    return numbering.fullBatches() + (joint + got) / size;
                }
                joint += got;
            }
            return batches();
        }

        private int laneOf(long number) {
            return numbering.batch(number).get(0).lane();
        }

        private long beforeRound(long round) {
            return Arrays.stream(full).map(lane -> Math.min(lane, round)).sum();
        }

        /** The last round that begins at or before a number. */
        private long roundOf(long number) {
            long low = 0;
            long high = Arrays.stream(full).max().orElse(0) + 1;
            while (high - low > 1) {
                long middle = (low + high) >>> 1;
                if (beforeRound(middle) <= number) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            return low;
        }
    }
}
