package dev.stoker.feeder.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AckRangesTest {
    @Test
    void holdsWhatABitSetHolds() {
        long seed = Long.getLong("test.seed", System.nanoTime());
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            AckRanges ranges = new AckRanges();
            BitSet model = new BitSet();
            for (int i = 0; i < 60; i++) {
                int from = random.nextInt(200);
                int to = from + random.nextInt(8);
                ranges.add(from, to);
                model.set(from, to);
                assertThat(ranges.size()).as("seed %d", seed).isEqualTo(model.cardinality());
            }
            for (int n = 0; n < 220; n++) {
                assertThat(ranges.contains(n)).as("seed %d number %d", seed, n).isEqualTo(model.get(n));
            }
            assertThat(AckRanges.of(ranges.toArray())).isEqualTo(ranges);
            long[] bounds = ranges.toArray();
            for (int i = 1; i < bounds.length; i++) {
                assertThat(bounds[i])
                        .as("seed %d: ranges apart and ascending", seed)
                        .isGreaterThan(bounds[i - 1]);
            }
        }
    }

    @Test
    void staysOneRangeWhenNumbersComeInOrder() {
        AckRanges ranges = new AckRanges();
        for (int i = 5; i < 10_000; i++) {
            ranges.add(i);
        }
        assertThat(ranges.toArray()).containsExactly(5, 10_000);
    }
}
