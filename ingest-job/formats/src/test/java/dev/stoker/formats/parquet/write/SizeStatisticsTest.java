package dev.stoker.formats.parquet.write;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.formats.Batches;
import dev.stoker.formats.write.RowOutput;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnIndex;
import org.apache.parquet.format.OffsetIndex;
import org.apache.parquet.format.SizeStatistics;
import org.apache.parquet.format.Util;
import org.junit.jupiter.api.Test;

/** Bytes of values, and numbers of values with each level, by column chunk and page. */
class SizeStatisticsTest {
    private static final int ROWS = 500;
    private static final List<Field> FIELDS = List.of(
            new Field("words", FieldType.parse("utf8[]"), false, false),
            new Field("note", ScalarType.UTF8, true, false),
            new Field("image", ScalarType.BINARY, true, true));

    private byte[] file;

    private List<ColumnChunk> write() throws Exception {
        List<List<Object>> samples = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
            samples.add(Arrays.asList(
                    "key" + i,
                    i % 2 == 0 ? List.of() : List.of("word", "ü" + i),
                    i % 4 == 0 ? null : "note " + i,
                    i % 5 == 0 ? null : new byte[i * 20]));
        }
        Batches.Made made = Batches.of(FIELDS, samples);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (RowOutput output = new ParquetOutput(out, made.table(), ParquetLayout.STOKER, 1 << 26)) {
            output.write(made.rows());
            output.finish();
        }
        file = out.toByteArray();
        int length = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).getInt(file.length - 8);
        return Util.readFileMetaData(stream(file.length - 8 - length, length))
                .getRow_groups()
                .get(0)
                .getColumns();
    }

    private ByteArrayInputStream stream(long from, int length) {
        return new ByteArrayInputStream(file, (int) from, length);
    }

    private static SizeStatistics sizes(ColumnChunk chunk) {
        return chunk.getMeta_data().getSize_statistics();
    }

    @Test
    void chunksHaveTheBytesAndLevelsOfTheirValues() throws Exception {
        List<ColumnChunk> chunks = write();
        long keys = 0;
        long images = 0;
        long words = 0;
        long notes = 0;
        for (int i = 0; i < ROWS; i++) {
            keys += ("key" + i).length();
            images += i % 5 == 0 ? 0 : i * 20;
            words += i % 2 == 0 ? 0 : 4 + ("ü" + i).getBytes(UTF_8).length;
            notes += i % 4 == 0 ? 0 : ("note " + i).length();
        }
        assertThat(chunks)
                .extracting(chunk -> sizes(chunk).getUnencoded_byte_array_data_bytes())
                .containsExactly(keys, words, notes, images);
        assertThat(sizes(chunks.get(1)).getRepetition_level_histogram()).containsExactly(500L, 250L);
    }

    @Test
    void pagesHaveThemToo() throws Exception {
        for (ColumnChunk chunk : write()) {
            OffsetIndex offsets =
                    Util.readOffsetIndex(stream(chunk.getOffset_index_offset(), chunk.getOffset_index_length()));
            assertThat(offsets.getUnencoded_byte_array_data_bytes().stream()
                            .mapToLong(bytes -> bytes)
                            .sum())
                    .isEqualTo(sizes(chunk).getUnencoded_byte_array_data_bytes());
            if (chunk.isSetColumn_index_offset()) {
                ColumnIndex index =
                        Util.readColumnIndex(stream(chunk.getColumn_index_offset(), chunk.getColumn_index_length()));
                if (sizes(chunk).isSetDefinition_level_histogram()) {
                    assertThat(index.getDefinition_level_histograms().stream()
                                    .mapToLong(count -> count)
                                    .sum())
                            .isEqualTo(chunk.getMeta_data().getNum_values());
                }
            }
        }
    }
}
