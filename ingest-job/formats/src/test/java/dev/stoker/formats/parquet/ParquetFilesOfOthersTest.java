package dev.stoker.formats.parquet;

import static dev.stoker.formats.ColumnarAssertions.assertReads;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.ReadRows;
import dev.stoker.formats.UnsupportedFileException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that {@code parquet.py} and {@code old_writers.py} wrote with pyarrow, pandas, DuckDB and datasets. */
class ParquetFilesOfOthersTest {
    private final ParquetFormat format = new ParquetFormat();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "scalars-none",
                "scalars-snappy",
                "scalars-gzip",
                "scalars-zstd",
                "scalars-lz4",
                "scalars-v2",
                "scalars-plain",
                "decimal-ints",
                "int96",
                "nested",
                "nested-v2",
                "nested-rows",
                "null-lists",
                "empty",
                "duplicates",
                "required",
                "wide",
                "small",
                "pandas",
                "duckdb",
                "huggingface",
                "old-pages",
                "old-dictionary",
                "old-lists"
            })
    void readsTheValues(String file) throws Exception {
        assertReads(format, "parquet/" + file + ".parquet", "parquet/" + file + ".parquet");
    }

    @ParameterizedTest
    @ValueSource(strings = {"dictionary", "delta", "delta2"})
    void readsTheEncodings(String encoding) throws Exception {
        assertReads(format, "parquet/encodings-" + encoding + ".parquet", "parquet/encodings");
    }

    @Test
    void refusesPagesWhoseSizeIsNotTheOneTheyName() throws Exception {
        byte[] file = ReadRows.resource("parquet/wrong-pages.parquet");
        assertThatThrownBy(() -> ReadRows.of(format, file, ReadLimits.DEFAULT))
                .isInstanceOf(DamagedFileException.class)
                .hasMessage("test-file: column 'x' of row group 0 is damaged: the header of a page says that its 22"
                        + " bytes are not compressed, but also that they are 20 bytes without compression; restore the"
                        + " file from a copy");
    }

    @Test
    void refusesBrotliByName() throws Exception {
        byte[] file = ReadRows.resource("parquet/scalars-brotli.parquet");
        assertThatThrownBy(() -> ReadRows.of(format, file, ReadLimits.DEFAULT))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("test-file: column 'a' of row group 0 has compression BROTLI");
    }

    @ParameterizedTest
    @ValueSource(strings = {"footer", "column"})
    void refusesEncryptedFilesByName(String what) throws Exception {
        byte[] file = ReadRows.resource("parquet/encrypted-" + what + ".parquet");
        assertThatThrownBy(() -> ReadRows.of(format, file, ReadLimits.DEFAULT))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("encrypted")
                .hasMessageStartingWith("test-file: it")
                .hasMessageEndingWith("which Stoker does not read; write the file without encryption");
    }
}
