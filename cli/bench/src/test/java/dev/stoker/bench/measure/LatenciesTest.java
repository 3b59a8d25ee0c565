package dev.stoker.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LatenciesTest {

    @Test
    void quantilesAreExactWithinAnEighth() {
        SplittableRandom random = new SplittableRandom(4);
        long[] values = random.longs(10_000, 1, 50_000_000).sorted().toArray();
        Latencies latencies = new Latencies();
        Arrays.stream(values).forEach(latencies::record);
        for (double share : new double[] {0.01, 0.5, 0.9, 0.99, 1}) {
            long exact = values[(int) Math.ceil(share * values.length) - 1];
            assertThat(latencies.quantile(share)).isBetween(exact, exact + exact / 8 + 1);
        }
    }

    @Test
    void smallAndHugeValuesHaveAClass() {
        for (long value : new long[] {0, 1, 7, 8, 9, 15, 16, Long.MAX_VALUE}) {
            Latencies latencies = new Latencies();
            latencies.record(value);
            assertThat(latencies.quantile(0.5)).isGreaterThanOrEqualTo(Math.max(1, value));
        }
    }

    @Test
    void joinedThreadsCountTogether() {
        Latencies one = new Latencies();
        one.record(5);
        Latencies two = new Latencies();
        two.record(1000);
        two.record(1000);
        one.add(two);
        assertThat(one.count()).isEqualTo(3);
        assertThat(one.quantile(0.3)).isEqualTo(5);
        assertThat(one.quantile(0.5)).isBetween(1000L, 1125L);
        assertThat(new Latencies().quantile(0.5)).isZero();
    }
}
