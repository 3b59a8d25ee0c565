package dev.stoker.bench.measure;

/**
 * Counts latencies in classes whose width is an eighth of a power of two, so that a quantile is exact within 12.5 %.
 * For one thread; threads count separately and {@link #add} joins them.
 */
public final class Latencies {
    /** Classes between two powers of two. */
    private static final int PARTS = 8;

    private static final int PART_BITS = 3;

    private final long[] counts = new long[64 * PARTS];
    private long total;

    public void record(long nanos) {
        counts[index(Math.max(1, nanos))]++;
        total++;
    }

    public void add(Latencies other) {
        for (int i = 0; i < counts.length; i++) {
            counts[i] += other.counts[i];
        }
        total += other.total;
    }

    public long count() {
        return total;
    }

    /**
     * Returns the latency that a share of the operations did not exceed: the upper end of its class.
     *
     * @param share from 0 to 1
     * @return nanoseconds; 0 if nothing was counted
     */
    public long quantile(double share) {
        long wanted = Math.max(1, (long) Math.ceil(share * total));
        long seen = 0;
        for (int i = 0; i < counts.length; i++) {
            seen += counts[i];
            if (total > 0 && seen >= wanted) {
                return upper(i);
            }
        }
        return 0;
    }

    private static int index(long nanos) {
        int power = 63 - Long.numberOfLeadingZeros(nanos);
        if (power < PART_BITS) {
            return (int) nanos;
        }
        int part = (int) (nanos >>> (power - PART_BITS)) & (PARTS - 1);
        return (power - PART_BITS + 1) * PARTS + part;
    }

    private static long upper(int index) {
        if (index < PARTS) {
            return index;
        }
        int shift = index / PARTS - 1;
        return ((long) (PARTS + index % PARTS + 1) << shift) - 1;
    }
}
