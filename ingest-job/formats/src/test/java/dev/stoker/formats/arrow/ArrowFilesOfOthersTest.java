package dev.stoker.formats.arrow;

import static dev.stoker.formats.ColumnarAssertions.assertReads;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.FileAttack;
import dev.stoker.formats.FileHead;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.ReadRows;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.TextSink;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.schemas.io.BufferRangeReader;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that {@code arrow.py} wrote with pyarrow and datasets. */
class ArrowFilesOfOthersTest {
    private final ArrowFormat format = new ArrowFormat();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "scalars.arrow",
                "scalars.arrows",
                "scalars-lz4.arrow",
                "scalars-zstd.arrow",
                "nested.arrow",
                "null-lists.arrow",
                "nested-zstd.arrows",
                "delta.arrow",
                "delta.arrows",
                "replaced.arrows",
                "runs.arrow",
                "empty.arrow",
                "empty.arrows",
                "duplicates.arrow",
                "small.arrow",
                "small.arrows",
                "small-lz4.arrow",
                "dataset/data-00000-of-00001.arrow",
                "old.arrow",
                "old.arrows",
                "map-names.arrow"
            })
    void readsTheValues(String file) throws Exception {
        assertReads(format, "arrow/" + file, "arrow/" + file);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "scalars.arrow",
                "scalars.arrows",
                "empty.arrow",
                "empty.arrows",
                "small-lz4.arrow",
                "old.arrow",
                "old.arrows"
            })
    void recognisesFilesAndStreams(String name) throws Exception {
        byte[] file = ReadRows.resource("arrow/" + name);
        ByteBuffer first = ByteBuffer.wrap(file, 0, Math.min(file.length, FileHead.FIRST_BYTES));
        ByteBuffer last = ByteBuffer.wrap(file, file.length - FileHead.LAST_BYTES, FileHead.LAST_BYTES);
        assertThat(format.recognises(new FileHead("x", file.length, first, last)))
                .isTrue();
        assertThat(format.recognises(new FileHead("x", 4, ByteBuffer.wrap(file, 8, 4), last)))
                .isFalse();
    }

    @Test
    void readsLz4BlocksThatRepeatBytesOfEarlierBlocks() throws Exception {
        List<List<String>> rows = ReadRows.of(format, ReadRows.resource("arrow/periodic-lz4.arrow"), ReadLimits.DEFAULT)
                .rows();
        assertThat(rows).hasSize(60_000);
        for (int i = 0; i < rows.size(); i++) {
            assertThat(rows.get(i)).containsExactly(Long.toString(i * 7919L % 1000));
        }
    }

    @Test
    void readsOnlyTheSelectedColumns() throws Exception {
        byte[] bytes = ReadRows.resource("arrow/scalars-zstd.arrow");
        try (RowFile file = format.open(new BufferRangeReader("x", ByteBuffer.wrap(bytes)), ReadLimits.DEFAULT)) {
            int last = file.schema().columns().size() - 1;
            try (RowReader reader = file.read(file.parts().get(1), new int[] {last, 0})) {
                TextSink sink = new TextSink();
                assertThat(reader.next()).isTrue();
                assertThat(reader.position()).isEqualTo(2);
                reader.get(0, sink);
                assertThat(sink.text()).isEqualTo("3");
                reader.get(1, sink);
                assertThat(sink.text()).isEqualTo("127");
                assertThat(reader.next()).isFalse();
            }
        }
    }

    @Test
    void refusesAColumnLargerThanTheMemory() throws Exception {
        byte[] file = ReadRows.resource("arrow/periodic-lz4.arrow");
        assertThatThrownBy(() -> ReadRows.of(format, file, new ReadLimits(200_000, 1 << 20, 32, 1000)))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("test-file: record batch 0 needs ")
                .hasMessageContaining("but the limit is 200000");
    }

    @Test
    void namesAFileThatWasCutOff() throws Exception {
        byte[] file = ReadRows.resource("arrow/small.arrow");
        assertThatThrownBy(() -> ReadRows.of(format, Arrays.copyOf(file, file.length - 1), ReadLimits.DEFAULT))
                .isInstanceOf(DamagedFileException.class)
                .hasMessageContaining("test-file is damaged: it does not end with ARROW1; it was cut off");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"small.arrow", "small.arrows", "small-lz4.arrow", "delta.arrows", "old.arrow", "old.arrows"})
    void survivesEveryTruncationAndFlippedBit(String name) throws Exception {
        FileAttack.truncate(format, ReadRows.resource("arrow/" + name));
        FileAttack.flip(format, ReadRows.resource("arrow/" + name));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "scalars.arrow",
                "scalars-zstd.arrow",
                "scalars-lz4.arrow",
                "nested.arrow",
                "nested-zstd.arrows",
                "dataset/data-00000-of-00001.arrow",
                "old.arrow",
                "old.arrows",
                "map-names.arrow"
            })
    void survivesRandomDamage(String name, TestInfo test) throws Exception {
        FileAttack.scramble(format, ReadRows.resource("arrow/" + name), test);
    }

    @Test
    void refusesABufferThatIsLargerThanTheMemoryWhenDecompressed() throws Exception {
        byte[] file = ReadRows.resource("arrow/bomb-zstd.arrow");
        assertThat(file).hasSizeLessThan(20_000);
        assertThatThrownBy(() -> ReadRows.of(format, file, FileAttack.LIMITS))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("test-file: record batch 0 needs ")
                .hasMessageContaining("but the limit is 16777216");
    }
}
