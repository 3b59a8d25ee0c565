package dev.stoker.ingest.rows.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class PositionKeysTest {
    private final PositionKeys keys = new PositionKeys();

    private void assertMade(String path, long position, int count) {
        keys.make(path, position, count);
        int start = 0;
        for (int row = 0; row < count; row++) {
            int end = keys.ends()[row];
            assertThat(new String(keys.texts(), start, end - start, StandardCharsets.UTF_8))
                    .isEqualTo(PositionKeys.of(path, position + row));
            start = end;
        }
    }

    @Test
    void numbersGrowByADigit() {
        assertMade("a/b.parquet", 0, 1200);
        assertMade("a/b.parquet", 999_990, 20);
        assertMade("9.parquet", 9, 2);
    }

    @Test
    void laterBlocksMayHaveLongerKeysOrMoreRows() {
        assertMade("a", 5, 3);
        assertMade("träge/" + "x".repeat(300), 7, 2);
        assertMade("b", 99, 500);
    }

    @Test
    void numbersMayHaveNineteenDigits() {
        assertMade("a", Long.MAX_VALUE - 3, 3);
    }
}
