package dev.stoker.schemas.order;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.testing.Rounds;
import java.util.Arrays;
import java.util.Comparator;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class KeySortTest {
    @Test
    void sortsHashesOfEveryCount(TestInfo test) {
        Rounds.of(test).run((random, round) -> {
            for (int n = 0; n < 300; n++) {
                check(n, random::nextLong);
            }
            check(100_000, random::nextLong);
        });
    }

    @Test
    void comparesWithoutSignAndBreaksTiesByIndex(TestInfo test) {
        long[] few = {-1, 0, Long.MIN_VALUE, Long.MAX_VALUE, 1};
        Rounds.of(test).run((random, round) -> {
            for (int n : new int[] {3, 40, 48, 49, 50, 1000, 20_000}) {
                check(n, () -> few[random.nextInt(few.length)]);
                check(n, () -> 7);
            }
        });
    }

    @Test
    void sortsKeysThatAreNoHashes(TestInfo test) {
        Rounds.of(test).run((random, round) -> {
            for (int n : new int[] {49, 1000, 20_000}) {
                long[] next = {0};
                check(n, () -> next[0]++);
                check(n, () -> next[0]--);
                check(n, () -> random.nextInt(100) == 0 ? random.nextLong() : 5L << 40 | random.nextInt(50));
                check(n, () -> (long) random.nextInt(16) << 60);
            }
        });
    }

    private static void check(int n, LongSupplier source) {
        long[] keys = new long[n];
        Arrays.setAll(keys, i -> source.getAsLong());
        int[] expected = IntStream.range(0, n)
                .boxed()
                .sorted(Comparator.<Integer>comparingLong(i -> keys[i] ^ Long.MIN_VALUE)
                        .thenComparing(i -> i))
                .mapToInt(i -> i)
                .toArray();
        assertThat(KeySort.order(keys.clone())).as("%d keys", n).isEqualTo(expected);
    }
}
