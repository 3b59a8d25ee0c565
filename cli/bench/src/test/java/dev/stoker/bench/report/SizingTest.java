package dev.stoker.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class SizingTest {

    private static final double NO_LIMIT = Double.POSITIVE_INFINITY;

    @Test
    void theRateDecidesHowManyFeeders() {
        Sizing sizing = Sizing.of(10_000, 1e5, new Sizing.Feeder(4_000, NO_LIMIT, 0.5, Sizing.Chunks.MAPPED), 9e11);
        assertThat(sizing.feeders()).isEqualTo(3);
        assertThat(sizing.bytesPerSecond()).isEqualTo(1e9);
        assertThat(sizing.networkBitsPerSecond()).isCloseTo(1e9 * 1.05 * 8 / 3, within(1.0));
        assertThat(sizing.feederProcessors()).hasValueCloseTo(0.5 / 3, within(1e-9));
        assertThat(sizing.tierBytes()).hasValueCloseTo(3e11, within(1.0));
    }

    @Test
    void aSlowNetworkNeedsMoreFeeders() {
        Sizing sizing = Sizing.of(10_000, 1e5, new Sizing.Feeder(20_000, 2.5e8, 0, Sizing.Chunks.MAPPED), 0);
        assertThat(sizing.feeders()).isEqualTo(5);
        assertThat(sizing.feederProcessors()).isEmpty();
        assertThat(sizing.tierBytes()).isEmpty();
    }

    @Test
    void aFeederThatJustSufficesIsOne() {
        assertThat(Sizing.of(4_000, 10, new Sizing.Feeder(4_000, NO_LIMIT, 0, Sizing.Chunks.MAPPED), 0)
                        .feeders())
                .isEqualTo(1);
        assertThat(Sizing.of(0.001, 10, new Sizing.Feeder(4_000, NO_LIMIT, 0, Sizing.Chunks.MAPPED), 0)
                        .feeders())
                .isEqualTo(1);
    }

    @Test
    void chunksThatAreNotMappedNeedMemory() {
        Sizing.Feeder mapped = new Sizing.Feeder(4_000, NO_LIMIT, 0, Sizing.Chunks.MAPPED);
        Sizing.Feeder remote = new Sizing.Feeder(4_000, NO_LIMIT, 0, Sizing.Chunks.IN_MEMORY);
        assertThat(Sizing.of(4_000, 10, mapped, 9e11).memoryBytes()).isEqualTo(1L << 30);
        assertThat(Sizing.of(4_000, 10, remote, 9e11).memoryBytes()).isEqualTo(3L << 30);
        assertThat(Sizing.of(4_000, 10, remote, 1e6).memoryBytes()).isEqualTo((1L << 30) + 1e6);
        assertThat(Sizing.of(4_000, 10, remote, 0).memoryBytes()).isEqualTo(3L << 30);
    }

    @Test
    void onlyWholeAcceleratorsCount() {
        assertThat(Sizing.accelerators(999, 500)).isEqualTo(1);
        assertThat(Sizing.accelerators(1000, 500)).isEqualTo(2);
        assertThat(Sizing.accelerators(499, 500)).isZero();
    }
}
