package dev.stoker.schemas.cache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.testing.Rounds;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class BoundedCacheTest {

    @Test
    void keepsWhatWasUsedLastWithinTheLimit() throws IOException {
        BoundedCache<String, Integer> cache = new BoundedCache<>(100, BoundedCache.Large.NOT_KEPT);
        List<Integer> loads = new ArrayList<>();
        for (int key : new int[] {1, 2, 1, 3, 1, 2}) {
            int value = cache.get("k" + key, 40, () -> {
                loads.add(key);
                return key;
            });
            assertThat(value).isEqualTo(key);
        }
        assertThat(loads).containsExactly(1, 2, 3, 2);
        assertThat(cache.usedBytes()).isEqualTo(80);
        assertThat(cache.remove("k1")).isEqualTo(1);
        assertThat(cache.remove("k1")).isNull();
        assertThat(cache.usedBytes()).isEqualTo(40);
    }

    @Test
    void aValueLargerThanTheLimitIsKeptAloneOrNotAtAll() {
        for (BoundedCache.Large large : BoundedCache.Large.values()) {
            BoundedCache<String, Integer> cache = new BoundedCache<>(100, large);
            cache.put("a", 1, 50);
            cache.put("b", 2, 101);
            boolean isKept = large == BoundedCache.Large.KEPT_ALONE;
            assertThat(cache.get("b")).isEqualTo(isKept ? 2 : null);
            assertThat(cache.get("a")).isEqualTo(isKept ? null : 1);
            cache.put("c", 3, 10);
            assertThat(cache.get("b")).isNull();
            assertThat(cache.usedBytes()).isEqualTo(isKept ? 10 : 60);
        }
    }

    /** Compares with a list of the keys in the order of their uses. */
    @Test
    void isTheTrivialCacheInAnyOrderOfUses(TestInfo test) {
        Rounds.of(test).seconds(0.3).atLeast(200).run((random, round) -> {
            BoundedCache<Integer, Integer> cache = new BoundedCache<>(50, BoundedCache.Large.NOT_KEPT);
            Deque<Integer> order = new ArrayDeque<>();
            Map<Integer, Integer> sizes = new HashMap<>();
            for (int i = 0; i < 200; i++) {
                int key = random.nextInt(12);
                if (random.nextInt(3) == 0) {
                    assertThat(cache.get(key)).isEqualTo(order.contains(key) ? (Integer) key : null);
                    if (order.remove(key)) {
                        order.add(key);
                    }
                } else {
                    int bytes = random.nextInt(60);
                    cache.put(key, key, bytes);
                    order.remove(key);
                    if (bytes <= 50) {
                        sizes.put(key, bytes);
                        order.add(key);
                        while (order.stream().mapToInt(sizes::get).sum() > 50) {
                            order.remove();
                        }
                    }
                }
                assertThat(cache.usedBytes())
                        .isEqualTo(order.stream().mapToLong(sizes::get).sum());
            }
        });
    }
}
