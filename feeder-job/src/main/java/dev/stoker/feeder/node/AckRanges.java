package dev.stoker.feeder.node;

import java.util.Arrays;

/**
 * A set of non-negative numbers, kept as disjoint ascending ranges: what was acknowledged.
 *
 * <p>In-order acknowledgements keep it at one range. Not thread-safe.
 */
public final class AckRanges {
    /** Pairs (first, past the last). */
    private long[] bounds;

    private int ranges;

    public AckRanges() {
        bounds = new long[4];
    }

    /** The set described by {@link #toArray}. */
    public static AckRanges of(long... bounds) {
        AckRanges set = new AckRanges();
        if (bounds.length % 2 != 0) {
            throw new IllegalArgumentException("ranges need pairs of bounds, got " + bounds.length + " numbers");
        }
        for (int i = 0; i < bounds.length; i += 2) {
            set.add(bounds[i], bounds[i + 1]);
        }
        return set;
    }

    /** Adds one number. */
    public void add(long number) {
        add(number, number + 1);
    }

    /** Adds the numbers from {@code from} to before {@code to}. */
    public void add(long from, long to) {
        if (from < 0 || to < from) {
            throw new IllegalArgumentException("range " + from + " to " + to);
        }
        if (from == to) {
            return;
        }
        // The last range is by far the likeliest to grow.
        int low = ranges > 0 && bounds[2 * ranges - 2] <= from ? ranges - 1 : firstEndingAtOrAfter(from);
        if (low < ranges && bounds[2 * low + 1] < from) {
            low++;
        }
        int high = low;
        long start = from;
        long end = to;
        while (high < ranges && bounds[2 * high] <= to) {
            start = Math.min(start, bounds[2 * high]);
            end = Math.max(end, bounds[2 * high + 1]);
            high++;
        }
        replace(low, high, start, end);
    }

    private int firstEndingAtOrAfter(long from) {
        int low = 0;
        int high = ranges;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (bounds[2 * middle + 1] < from) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private void replace(int low, int high, long start, long end) {
        int grown = ranges - (high - low) + 1;
        if (2 * grown > bounds.length) {
            bounds = Arrays.copyOf(bounds, bounds.length * 2);
        }
        System.arraycopy(bounds, 2 * high, bounds, 2 * (low + 1), 2 * (ranges - high));
        bounds[2 * low] = start;
        bounds[2 * low + 1] = end;
        ranges = grown;
    }

    /** Adds all numbers of {@code other}. */
    public void addAll(AckRanges other) {
        for (int i = 0; i < other.ranges; i++) {
            add(other.bounds[2 * i], other.bounds[2 * i + 1]);
        }
    }

    public boolean contains(long number) {
        int i = firstEndingAtOrAfter(number + 1);
        return i < ranges && bounds[2 * i] <= number;
    }

    /** How many numbers the set holds. */
    public long size() {
        long size = 0;
        for (int i = 0; i < ranges; i++) {
            size += bounds[2 * i + 1] - bounds[2 * i];
        }
        return size;
    }

    public boolean isEmpty() {
        return ranges == 0;
    }

    /** Pairs (first, past the last), ascending. */
    public long[] toArray() {
        return Arrays.copyOf(bounds, 2 * ranges);
    }

    /** An independent copy. */
    public AckRanges copy() {
        AckRanges copy = new AckRanges();
        copy.bounds = bounds.clone();
        copy.ranges = ranges;
        return copy;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof AckRanges that && Arrays.equals(toArray(), that.toArray());
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(toArray());
    }

    @Override
    public String toString() {
        return Arrays.toString(toArray());
    }
}
