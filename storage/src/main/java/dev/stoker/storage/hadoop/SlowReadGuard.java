package dev.stoker.storage.hadoop;

import java.time.Duration;
import org.apache.hadoop.conf.Configuration;

/**
 * Ends a connection on which bytes arrive too slowly. No time-out applies to such a connection, because bytes still
 * arrive.
 *
 * @param time period over which the rate is measured
 * @param bytesPerSecond minimum rate
 */
record SlowReadGuard(Duration time, long bytesPerSecond) {

    static SlowReadGuard of(Configuration conf) {
        return new SlowReadGuard(
                StoreConfiguration.duration(conf, StoreConfiguration.SLOW_READ_TIME, Duration.ofSeconds(20)),
                conf.getLongBytes(StoreConfiguration.SLOW_READ_RATE, 8 << 10));
    }

    /** Watches one read. */
    final class Watch {
        private long sinceNs = System.nanoTime();
        private long bytes;

        void got(int count) throws BrokenReadException {
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
