package dev.stoker.storage.hadoop;

import java.time.Duration;
import org.apache.hadoop.conf.Configuration;

/**
 * Ends a read that is too slow: bytes arrive, so no time-out occurs, but too few.
 *
 * @param time the period for measuring the rate
 * @param bytesPerSecond the minimum rate
 */
record SlowReadGuard(Duration time, long bytesPerSecond) {

    static SlowReadGuard of(Configuration conf) {
        return new SlowReadGuard(
                StoreConfiguration.duration(conf, StoreConfiguration.SLOW_READ_TIME, Duration.ofSeconds(20)),
                conf.getLongBytes(StoreConfiguration.SLOW_READ_RATE, 8 << 10));
    }

    /** One read. */
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
