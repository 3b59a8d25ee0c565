package dev.stoker.schemas.order.delivery;

import dev.stoker.schemas.order.EpochSize;
import java.util.Arrays;
import java.util.List;

/**
 * The batches that a trainer leaves out of one epoch, by number. See section "Skipped batches" of
 * {@code docs/formats/order.md}. Immutable and thread-safe.
 *
 * <p>The <em>slot</em> of a batch is its number among the batches that are left. Ranks and workers divide slots as
 * they divide numbers if nothing is skipped. Numbers past the end of the epoch repeat its batches, and so do slots.
 */
public final class SkippedBatches {

    private final long batches;
    private final long[] firsts;
    private final long[] lasts;
    /** Skipped batches before each range; one more than ranges. */
    private final long[] before;

    /**
     * @param batches number of batches of the epoch
     * @param ranges ascending, disjoint and not adjacent; parts past the end of the epoch are dropped
     */
    public SkippedBatches(long batches, List<SkipList.Range> ranges) {
        List<SkipList.Range> within =
                ranges.stream().filter(range -> range.first() < batches).toList();
        this.batches = batches;
        this.firsts = new long[within.size()];
        this.lasts = new long[within.size()];
        this.before = new long[within.size() + 1];
        for (int i = 0; i < firsts.length; i++) {
            firsts[i] = within.get(i).first();
            lasts[i] = Math.min(within.get(i).last(), batches - 1);
            before[i + 1] = before[i] + lasts[i] - firsts[i] + 1;
        }
    }

    /** Returns whether nothing is skipped. */
    public boolean isEmpty() {
        return firsts.length == 0;
    }

    /** Returns the number of batches that are left. */
    public long left() {
        return batches - before[firsts.length];
    }

    /** Returns whether a number, or the batch that it repeats, is skipped. */
    public boolean contains(long number) {
        if (isEmpty()) {
            return false;
        }
        long physical = number % batches;
        int range = rangesFrom(physical) - 1;
        return range >= 0 && physical <= lasts[range];
    }

    /** Returns the slot of a batch; for a skipped batch, the slot of the first one after it that is left. */
    public long slot(long number) {
        if (isEmpty()) {
            return number;
        }
        if (left() == 0) {
            return Math.max(0, number - batches);
        }
        long physical = number % batches;
        int range = rangesFrom(physical);
        long skipped = before[range];
        if (range > 0 && physical <= lasts[range - 1]) {
            skipped -= lasts[range - 1] - physical + 1;
        }
        return number / batches * left() + physical - skipped;
    }

    /** Returns the number of the batch at a slot; the inverse of {@link #slot}. */
    public long number(long slot) {
        if (isEmpty()) {
            return slot;
        }
        if (left() == 0) {
            return batches + slot;
        }
        long rest = slot % left();
        int low = 0;
        int high = firsts.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (firsts[middle] - before[middle] <= rest) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return slot / left() * batches + rest + before[low];
    }

    /** Returns the number of batches below a number that are left and have all rows. */
    public long wholeBatches(EpochSize size) {
        return slot(size.wholeBatches());
    }

    /** Returns how many ranges begin at or before a number. */
    private int rangesFrom(long number) {
        int found = Arrays.binarySearch(firsts, number);
        return found >= 0 ? found + 1 : -found - 1;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SkippedBatches that
                && batches == that.batches
                && Arrays.equals(firsts, that.firsts)
                && Arrays.equals(lasts, that.lasts);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(batches) * 31 + Arrays.hashCode(firsts) * 31 + Arrays.hashCode(lasts);
    }
}
