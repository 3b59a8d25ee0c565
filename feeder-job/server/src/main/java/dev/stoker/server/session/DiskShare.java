package dev.stoker.server.session;

import java.util.function.LongSupplier;

/**
 * Tells a write that waited for the disk from one that waited for the network, both of which are one blocking system
 * call. A slow write for which the kernel read from a disk waited for the disk as long as it took more than the same
 * bytes take out of memory. One thread.
 */
final class DiskShare {
    private static final long SLOW_NANOS = 1_000_000;
    /**
     * Slower than this, in bytes per nanosecond, a write is looked into; a copy out of memory is several times faster.
     */
    private static final double QUICK = 1.0;

    private static final long LOOK_NANOS = 1_000_000_000;
    private static final double WEIGHT = 1 / 16.0;

    private final LongSupplier diskBytes;
    private long known;
    private long lookedNanos;
    private double nanosPerByte;

    /** @param diskBytes what the kernel has read from disks for this thread so far */
    DiskShare(LongSupplier diskBytes, long nowNanos) {
        this.diskBytes = diskBytes;
        this.known = diskBytes.getAsLong();
        this.lookedNanos = nowNanos;
    }

    /**
     * Nanoseconds of a write that went to waiting for a disk.
     *
     * @param nanos how long the write took
     * @param bytes that it wrote
     * @param nowNanos the time of its end
     */
    long of(long nanos, long bytes, long nowNanos) {
        boolean slow = nanos > SLOW_NANOS && bytes < QUICK * nanos;
        if (!slow && nowNanos - lookedNanos < LOOK_NANOS) {
            learn(nanos, bytes);
            return 0;
        }
        lookedNanos = nowNanos;
        long found = diskBytes.getAsLong();
        boolean read = found != known;
        known = found;
        if (!slow || !read) {
            learn(nanos, bytes);
            return 0;
        }
        return Math.max(0, nanos - (long) (nanosPerByte * bytes));
    }

    private void learn(long nanos, long bytes) {
        if (bytes > 0) {
            double found = (double) nanos / bytes;
            nanosPerByte += nanosPerByte == 0 ? found : WEIGHT * (found - nanosPerByte);
        }
    }
}
