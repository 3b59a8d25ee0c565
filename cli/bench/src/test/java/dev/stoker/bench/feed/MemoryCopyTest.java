package dev.stoker.bench.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.bench.measure.Progress;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class MemoryCopyTest {

    private static final Progress STOPPED = new Progress() {
        @Override
        public void doing(String what) {}

        @Override
        public boolean isStopped() {
            return true;
        }
    };

    @Test
    void theAreasOfAllProcessorsFitIntoTheHeap() {
        assertThat(MemoryCopy.areaBytes(2, 4L << 30)).isEqualTo(64 << 20);
        // Areas of 64 MiB would take 16 GiB here.
        assertThat(2L * 128 * MemoryCopy.areaBytes(128, 8L << 30)).isLessThanOrEqualTo(2L << 30);
        assertThat(MemoryCopy.areaBytes(256, 1L << 30)).isEqualTo(4 << 20);
    }

    @Test
    void aStopEndsALongMeasurement() throws InterruptedException {
        assertThat(MemoryCopy.measure(Duration.ofDays(1), STOPPED)).isPositive();
    }
}
