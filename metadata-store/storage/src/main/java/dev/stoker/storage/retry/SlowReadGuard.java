package dev.stoker.storage.retry;

import java.time.Duration;

/**
 * Ends a connection on which bytes arrive too slowly. No time-out applies to such a connection, because bytes still
 * arrive.
 *
 * @param time period over which the rate is measured
 * @param bytesPerSecond minimum rate
 */
public record SlowReadGuard(Duration time, long bytesPerSecond) {

    /** Limits of stores that have no setting for them. */
    public static final SlowReadGuard DEFAULT = new SlowReadGuard(Duration.ofSeconds(20), 8 << 10);

    /** Watches one read. */
    public final class Watch {
        private long sinceNs = System.nanoTime();
        private long bytes;

        /** Counts bytes that have arrived. */
        public void got(int count) throws BrokenReadException {
            bytes += count;
            long elapsedNs = System.nanoTime() - sinceNs;
            if (elapsedNs < time.toNanos()) {
                return;
            }
            long rate = (long) (bytes / (elapsedNs / 1e9));
            if (rate < bytesPerSecond) {
                throw new BrokenReadException("only " + rate + " bytes per second");
            }
            sinceNs = System.nanoTime();
            bytes = 0;
        }
    }
}
