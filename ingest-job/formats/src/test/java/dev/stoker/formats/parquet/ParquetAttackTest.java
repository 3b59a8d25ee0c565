package dev.stoker.formats.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.FileAttack;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.ReadRows;
import dev.stoker.formats.UnsupportedFileException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ParquetAttackTest {
    private final ParquetFormat format = new ParquetFormat();

    @Test
    void refusesATruncatedFile() throws Exception {
        FileAttack.truncate(format, ReadRows.resource("parquet/small.parquet"));
    }

    @Test
    void survivesFlippedBytes() throws Exception {
        FileAttack.flip(format, ReadRows.resource("parquet/small.parquet"));
    }

    @Test
    void findsFlippedBytesInPagesByTheirChecksum() throws Exception {
        byte[] file = ReadRows.resource("parquet/small.parquet");
        int footer = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).getInt(file.length - 8);
        FileAttack.flipChecked(format, file, 0, file.length - 8 - footer);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "nested",
                "nested-v2",
                "scalars-plain",
                "scalars-snappy",
                "scalars-zstd",
                "scalars-gzip",
                "scalars-lz4",
                "encodings-delta",
                "encodings-delta2",
                "encodings-dictionary",
                "huggingface"
            })
    void survivesRandomDamage(String file, TestInfo test) throws Exception {
        FileAttack.scramble(format, ReadRows.resource("parquet/" + file + ".parquet"), test);
    }

    @Test
    void namesAFileThatWasCutOff() throws Exception {
        byte[] file = ReadRows.resource("parquet/small.parquet");
        assertThatThrownBy(() -> ReadRows.of(format, Arrays.copyOf(file, file.length - 1), ReadLimits.DEFAULT))
                .isInstanceOf(DamagedFileException.class)
                .hasMessage("test-file is damaged: it does not end with PAR1; it was cut off, or is no Parquet file;"
                        + " restore the file from a copy");
    }

    @Test
    void refusesAPageThatIsLargerThanTheMemoryWhenDecompressed() throws Exception {
        byte[] file = ReadRows.resource("parquet/bomb.parquet");
        assertThat(file).hasSizeLessThan(20_000);
        assertThatThrownBy(() -> ReadRows.of(format, file, FileAttack.LIMITS))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("test-file: row group 0 needs ")
                .hasMessageContaining("but the limit is 16777216");
    }

    @Test
    void refusesAListThatRepeatsAnItemOfADictionaryTooOften() throws Exception {
        byte[] file = ReadRows.resource("parquet/repeats.parquet");
        assertThat(file).hasSizeLessThan(20_000);
        ReadRows read = ReadRows.of(format, file, FileAttack.LIMITS);
        assertThat(read.bad()).hasSize(1);
        assertThat((String) read.bad().get(0).get(2)).startsWith("the list has more than 1048576 bytes");
    }

    @Test
    void refusesASchemaThatIsNestedTooDeeply() throws Exception {
        String schema = "message m {" + "required group a {".repeat(200) + "required int32 a;" + "}".repeat(201);
        byte[] file = MemoryOutput.write(schema, UnaryOperator.identity(), (factory, out) -> {});
        assertThatThrownBy(() -> ReadRows.of(format, file, ReadLimits.DEFAULT))
                .isInstanceOf(DamagedFileException.class)
                .hasMessageContaining("its schema is nested deeper than 32 levels");
    }
}
