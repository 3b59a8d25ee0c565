package dev.stoker.server.tiers;

import java.util.function.LongSupplier;

/**
 * A limit of bytes a second, kept on the average: a read begins when all before it are paid for. Not thread-safe; its
 * owner's lock guards it.
 */
final class Bandwidth {
    private static final double NANOS = 1e9;

    private final long bytesPerSecond;
    private final LongSupplier nanoTime;
    /** When the last read is paid for. */
    private long paidNanos;

    /** @param bytesPerSecond 0 for no limit */
    Bandwidth(long bytesPerSecond, LongSupplier nanoTime) {
        this.bytesPerSecond = bytesPerSecond;
        this.nanoTime = nanoTime;
        this.paidNanos = nanoTime.getAsLong();
    }

    /** Nanoseconds until the next read may begin; 0 for now. */
    long waitNanos() {
        return bytesPerSecond == 0 ? 0 : Math.max(0, paidNanos - nanoTime.getAsLong());
    }

    /** A read begins. */
    void spend(long bytes) {
        if (bytesPerSecond > 0) {
            // Idle time is not saved up.
            paidNanos = Math.max(paidNanos, nanoTime.getAsLong()) + (long) (bytes * NANOS / bytesPerSecond);
        }
    }
}
