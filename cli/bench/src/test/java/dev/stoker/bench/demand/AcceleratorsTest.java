package dev.stoker.bench.demand;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.stoker.bench.measure.Progress;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** On a clock that only the accelerators move, each its own. */
class AcceleratorsTest {

    private static final Shape SHAPE = new Shape("test", "-", 100, 0, 4, 0.1, 0.9, "test");

    private static final Progress ENDLESS = new Progress() {
        @Override
        public void doing(String what) {}

        @Override
        public boolean isStopped() {
            return false;
        }
    };

    /** Time passes by sleep alone. */
    private final class VirtualClock implements Accelerators.Clock {
        private final ThreadLocal<long[]> now = ThreadLocal.withInitial(() -> new long[1]);

        @Override
        public long nanoTime() {
            return now.get()[0];
        }

        @Override
        public void park(long nanos) {
            parks.add(nanos);
            now.get()[0] += Math.min(nanos, longestPark);
        }
    }

    private final Queue<Long> parks = new ConcurrentLinkedQueue<>();
    private long longestPark = Long.MAX_VALUE;
    private final VirtualClock clock = new VirtualClock();
    private final AtomicInteger closed = new AtomicInteger();

    /** Batches for which a consumer waits this time. */
    private DemandBatches waiting(double seconds) {
        return new DemandBatches() {
            @Override
            public Taken next() {
                clock.now.get()[0] += (long) (seconds * 1e9);
                return new Taken(4, 400);
            }

            @Override
            public void close() {
                closed.incrementAndGet();
            }
        };
    }

    private AcceleratorRun run(int count, Accelerators.Source source) throws Exception {
        return new Accelerators(SHAPE, count, 3, Duration.ofSeconds(400), ENDLESS, clock).run("feed", source);
    }

    @Test
    void anAcceleratorThatNeverWaitsComputesAllTheTime() throws Exception {
        AcceleratorRun run = run(3, rank -> waiting(0));
        assertThat(run.utilization().values())
                .hasSize(3)
                .allSatisfy(one -> assertThat(one).isCloseTo(1, within(1e-9)));
        assertThat(run.isMet()).isTrue();
        assertThat(run.samplesPerSecond().median()).isCloseTo(3 * 40, within(1e-6));
        assertThat(run.bytesPerSecond().median()).isCloseTo(3 * 4000, within(1e-6));
        assertThat(run.sampleBytes()).isCloseTo(100, within(1e-9));
        assertThat(closed).hasValue(3);
    }

    @Test
    void aComputationHasTheTimeOfTheShapeToTheNanosecond() throws Exception {
        Shape fast = new Shape("fast", "-", 100, 0, 4, 0.0012, 0.9, "test");
        longestPark = 1_000_000;
        AcceleratorRun run =
                new Accelerators(fast, 1, 1, Duration.ofMillis(24), ENDLESS, clock).run("feed", rank -> waiting(0));
        // The first sleep ends too early.
        assertThat(parks).startsWith(1_200_000L, 200_000L, 1_200_000L);
        assertThat(run.utilization().median()).isCloseTo(1, within(1e-9));
        assertThat(run.samplesPerSecond().median()).isCloseTo(4 / 0.0012, within(1e-6));
    }

    @Test
    void waitingLowersTheMeanOverAllAccelerators() throws Exception {
        // One waits as long as it computes, the other never.
        AcceleratorRun run = run(2, rank -> waiting(rank == 0 ? 0.1 : 0));
        assertThat(run.utilization().median()).isCloseTo(0.75, within(1e-3));
        assertThat(run.isMet()).isFalse();
    }

    @Test
    void oneThatFailsEndsTheMeasurement() {
        assertThatThrownBy(() -> run(2, rank -> rank == 0 ? waiting(0) : failing()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("lost");
        assertThat(closed).hasValue(2);
    }

    private DemandBatches failing() {
        return new DemandBatches() {
            @Override
            public Taken next() {
                throw new IllegalStateException("lost");
            }

            @Override
            public void close() {
                closed.incrementAndGet();
            }
        };
    }
}
