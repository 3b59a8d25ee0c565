package dev.stoker.formats.parquet.write;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.formats.Batches;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.Rows;
import dev.stoker.formats.parquet.ParquetFormat;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.testing.Rounds;
import java.io.ByteArrayInputStream;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.Encoding;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.Util;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Each column is encoded in the way that makes it small, and comes back. */
class EncodingChoiceTest {
    private static final int ROWS = 50_000;

    private static final List<Field> FIELDS = List.of(
            field("sorted", "int64"),
            field("steps", "int32"),
            field("day", "int32"),
            field("random", "int64"),
            field("few", "int64"),
            field("wave", "float64"),
            field("noise", "float32"),
            field("third", "float32"),
            field("name", "utf8"),
            field("text", "utf8"),
            field("vector", "float32[4]"),
            field("gaps", "int64?"),
            field("flag", "bool"),
            field("price", "decimal(10,2)"));

    private static Field field(String name, String type) {
        return new Field(name, FieldType.parse(type.replace("?", "")), type.endsWith("?"), false);
    }

    private static List<Object> sample(Random random, int i) {
        ByteBuffer vector = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
        for (int v = 0; v < 4; v++) {
            vector.putFloat((float) random.nextGaussian());
        }
        byte[] letters = new byte[12];
        for (int l = 0; l < letters.length; l++) {
            letters[l] = (byte) ('a' + random.nextInt(26));
        }
        return Arrays.asList(
                String.format("photos/%08d.jpg", i),
                1_000_000L + 3L * i + random.nextInt(3),
                (long) (i / 4),
                (long) (i + random.nextInt(100) * 300),
                random.nextLong(),
                (long) random.nextInt(10),
                Math.sin(i / 1000.0),
                random.nextDouble() - 0.5,
                (double) (float) (random.nextInt() / 3.0),
                String.format("row %09d", 7 * i),
                new String(letters, US_ASCII),
                vector.array(),
                i % 3 == 0 ? null : (Object) (5L * i),
                i % 2 == 0,
                new BigDecimal(i).movePointLeft(2));
    }

    private static Batches.Made made(Random random, int rows, int nulls) throws Exception {
        List<List<Object>> samples = new ArrayList<>();
        for (int i = 0; i < rows; i++) {
            List<Object> sample = sample(random, i);
            if (i < nulls) {
                sample.set(FIELDS.size() - 2, null);
            }
            samples.add(sample);
        }
        return Batches.of(FIELDS, samples);
    }

    private static Map<String, ColumnMetaData> columns(byte[] file) throws Exception {
        int length = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).getInt(file.length - 8);
        FileMetaData footer = Util.readFileMetaData(new ByteArrayInputStream(file, file.length - 8 - length, length));
        assertThat(footer.getRow_groups()).hasSize(1);
        Map<String, ColumnMetaData> found = new TreeMap<>();
        footer.getRow_groups()
                .get(0)
                .getColumns()
                .forEach(column ->
                        found.put(column.getMeta_data().getPath_in_schema().get(0), column.getMeta_data()));
        return found;
    }

    private static List<String> read(byte[] file) throws Exception {
        try (RowFile open = new ParquetFormat().open(Rows.file("a.parquet", file), ReadLimits.DEFAULT)) {
            return Rows.read(open);
        }
    }

    @Test
    void theSmallestEncodingIsTaken() throws Exception {
        byte[] file = made(new Random(1), ROWS, 0).compressed("zstd").write(new ParquetRowWriter(), 1);

        Map<String, ColumnMetaData> found = columns(file);
        assertThat(found.get("sorted").getEncodings()).contains(Encoding.DELTA_BINARY_PACKED);
        assertThat(found.get("steps").getEncodings()).contains(Encoding.DELTA_BINARY_PACKED);
        assertThat(found.get("gaps").getEncodings()).contains(Encoding.DELTA_BINARY_PACKED);
        assertThat(found.get("random").getEncodings()).contains(Encoding.PLAIN).hasSizeLessThan(4);
        assertThat(found.get("few").getEncodings()).contains(Encoding.PLAIN_DICTIONARY);
        assertThat(found.get("wave").getEncodings()).contains(Encoding.BYTE_STREAM_SPLIT);
        assertThat(found.get("vector").getEncodings()).contains(Encoding.BYTE_STREAM_SPLIT);
        assertThat(found.get("name").getEncodings()).contains(Encoding.DELTA_BYTE_ARRAY);
        assertThat(found.get("key").getEncodings()).contains(Encoding.DELTA_BYTE_ARRAY);
        assertThat(found.get("sorted").getTotal_compressed_size()).isLessThan(ROWS);
        found.values()
                .forEach(column -> assertThat(column.getTotal_compressed_size())
                        .as(column.getPath_in_schema().get(0))
                        .isLessThan(
                                ROWS * 9L * (column.getPath_in_schema().get(0).equals("vector") ? 2 : 1)));
    }

    @Test
    void plainValuesStayPlainIfTheyAreNotCompressed() throws Exception {
        byte[] file = made(new Random(1), ROWS, 0).compressed("none").write(new ParquetRowWriter(), 1);

        Map<String, ColumnMetaData> found = columns(file);
        assertThat(found.get("noise").getEncodings()).doesNotContain(Encoding.BYTE_STREAM_SPLIT);
        assertThat(found.get("sorted").getEncodings()).contains(Encoding.DELTA_BINARY_PACKED);
    }

    @Test
    void theValuesComeBackInEachCompression(TestInfo test) {
        Rounds.of(test).run((random, round) -> {
            int rows = 1 + random.nextInt(300);
            // Also a first page of nulls only.
            Batches.Made made = made(random, rows, random.nextBoolean() ? rows : 0);
            List<String> first = read(made.compressed("none").write(new ParquetRowWriter(), 1));
            assertThat(first).hasSize(rows);
            for (String compression : List.of("zstd", "snappy", "gzip")) {
                List<String> other = read(made.compressed(compression).write(new ParquetRowWriter(), 2));
                assertThat(other.subList(0, rows).equals(first)).isTrue();
                assertThat(other.subList(rows, 2 * rows).equals(first)).isTrue();
            }
        });
    }

    @Test
    void severalPagesAndGroupsAreEncodedAlike() throws Exception {
        Batches.Made made = made(new Random(2), ROWS, ROWS / 2);
        List<String> all = read(made.compressed("zstd").write(new ParquetRowWriter(), 1));
        assertThat(all).hasSize(ROWS);
        assertThat(all.get(12_345)).contains("photos/00012345.jpg", "row 000086415");
        assertThat(all.get(ROWS - 1)).contains("photos/00049999.jpg");
    }
}
