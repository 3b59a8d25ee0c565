package dev.stoker.schemas.order;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class KeyHashTest {

    private static long hash(long seed, String text) {
        return KeyHash.hash(seed, text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void isFrozen() {
        assertThat(Long.toHexString(hash(0, ""))).isEqualTo("48218226ff3cd4bf");
        assertThat(Long.toHexString(hash(0, "a"))).isEqualTo("4e23c0c98b9a6368");
        assertThat(Long.toHexString(hash(7, "cats/00000001.jpg"))).isEqualTo("94522f981f5f3b1a");
    }

    @Test
    void readsARangeOfAnArray() {
        byte[] bytes = "xxcats/1.jpgyy".getBytes(StandardCharsets.UTF_8);

        assertThat(KeyHash.hash(3, bytes, 2, bytes.length - 4)).isEqualTo(hash(3, "cats/1.jpg"));
    }

    @Test
    void tellsZerosAndLengthsApart() {
        Set<Long> seen = new HashSet<>();
        for (int length = 0; length < 40; length++) {
            assertThat(seen.add(KeyHash.hash(0, new byte[length]))).isTrue();
        }
    }

    @Test
    void spreadsNamesThatDifferInANumber() {
        int[] buckets = new int[64];
        for (int i = 0; i < 64_000; i++) {
            buckets[(int) (hash(0, "images/img_" + i + ".jpg") >>> 58)]++;
        }
        for (int count : buckets) {
            assertThat(count).isBetween(850, 1150);
        }
    }
}
