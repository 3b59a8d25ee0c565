package dev.stoker.ingest.topic;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SeenKeysTest {
    /** More hashes than one element of a checkpoint's list can contain. */
    private static final int KEYS = (1 << 20) + 1000;

    @Test
    void knowsAfterARestoreWhatItHasSeen() {
        SeenKeys keys = new SeenKeys();
        for (int i = 0; i < KEYS; i++) {
            assertThat(keys.add("key-" + i)).isTrue();
        }
        List<byte[]> state = keys.toBytes();
        assertThat(state).hasSize(2).allMatch(portion -> portion.length <= 8 << 20);

        SeenKeys restored = new SeenKeys();
        state.forEach(restored::addAll);
        for (int i = 0; i < KEYS; i++) {
            assertThat(restored.contains("key-" + i)).isTrue();
        }
        assertThat(restored.contains("another")).isFalse();
    }
}
