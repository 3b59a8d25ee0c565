package dev.stoker.formats;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;

/** Compares files with their expected values. */
public final class ColumnarAssertions {
    private ColumnarAssertions() {}

    /** Asserts that a file gives the values of {@code expected.json}. */
    public static void assertReads(RowFormat format, String file, String expected) throws IOException {
        assertReads(
                ReadRows.of(format, ReadRows.resource(file), ReadLimits.DEFAULT),
                ReadRows.expected(expected + ".json"));
    }

    /** Asserts that the values read equal the expected values. */
    public static void assertReads(ReadRows read, ReadRows expected) {
        assertThat(read.columns()).isEqualTo(expected.columns());
        assertThat(read.refused()).isEqualTo(expected.refused());
        assertThat(read.bad()).hasSameSizeAs(expected.bad());
        for (int i = 0; i < expected.bad().size(); i++) {
            assertThat(read.bad().get(i).subList(0, 2))
                    .isEqualTo(expected.bad().get(i).subList(0, 2));
            assertThat((String) read.bad().get(i).get(2))
                    .contains((String) expected.bad().get(i).get(2));
        }
        assertThat(read.rows()).isEqualTo(expected.rows());
    }
}
