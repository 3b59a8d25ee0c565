package dev.stoker.formats.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.ReadRows;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.TextSink;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.testing.Rounds;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.parquet.column.ParquetProperties.WriterVersion;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.format.CompressionCodec;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.Util;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.io.api.Binary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ParquetFilesOfParquetJavaTest {
    private final ParquetFormat format = new ParquetFormat();

    private static byte[] one(String schema, Consumer<Group> fill) throws Exception {
        return MemoryOutput.write(schema, UnaryOperator.identity(), (factory, out) -> {
            Group row = factory.newGroup();
            fill.accept(row);
            out.add(row);
        });
    }

    private ReadRows read(byte[] file) throws Exception {
        return ReadRows.of(format, file, ReadLimits.DEFAULT);
    }

    @Test
    void readsRepeatedFieldsWithoutAListAsLists() throws Exception {
        byte[] file = one(
                "message m { repeated int32 n; repeated group s { required int32 a; optional binary b (STRING); } }",
                row -> {
                    row.append("n", 1).append("n", 2);
                    row.addGroup("s").append("a", 3).append("b", "x");
                    row.addGroup("s").append("a", 4).append("b", "y");
                });
        ReadRows read = read(file);
        assertThat(read.columns())
                .containsExactly(
                        List.of("n", "int32[]", false),
                        List.of("s.a", "int32[]", false),
                        List.of("s.b", "utf8[]", false));
        assertThat(read.rows()).containsExactly(List.of("0100000002000000", "0300000004000000", "[78,79]"));
    }

    @Test
    void readsTheTwoLevelListsOfOlderWriters() throws Exception {
        byte[] file = one(
                "message m { optional group n (LIST) { repeated int32 array; }"
                        + " optional group s (LIST) { repeated group array { required int32 a; } }"
                        + " optional group t (LIST) { repeated group t_tuple { required int32 a; } }"
                        + " optional group u (LIST) { repeated group bag { optional int32 array_element; } } }",
                row -> {
                    row.addGroup("n").append("array", 1).append("array", 2);
                    row.addGroup("s").addGroup("array").append("a", 3);
                    row.addGroup("t").addGroup("t_tuple").append("a", 4);
                    row.addGroup("u").addGroup("bag").append("array_element", 5);
                });
        ReadRows read = read(file);
        assertThat(read.columns())
                .containsExactly(
                        List.of("n", "int32[]", true),
                        List.of("s.a", "int32[]", true),
                        List.of("t.a", "int32[]", true),
                        List.of("u", "int32[]", true));
        assertThat(read.rows()).containsExactly(List.of("0100000002000000", "03000000", "04000000", "05000000"));
    }

    @Test
    void readsTenThousandColumns() throws Exception {
        int count = 10_000;
        String schema = IntStream.range(0, count)
                .mapToObj(i -> "required int32 c" + i + ";")
                .collect(Collectors.joining(" ", "message m {", "}"));
        byte[] file = one(schema, row -> IntStream.range(0, count).forEach(i -> row.append("c" + i, i)));
        try (RowFile open = format.open(new BufferRangeReader("wide", ByteBuffer.wrap(file)), ReadLimits.DEFAULT)) {
            int[] selected = {9_999, 0, 5_000};
            assertThat(values(open, selected)).containsExactly(List.of("9999", "0", "5000"));
        }
        assertThat(read(file).rows().get(0)).hasSize(count).endsWith("9999");
    }

    @ParameterizedTest
    @EnumSource(WriterVersion.class)
    void equalsAModel(WriterVersion version, TestInfo test) {
        Rounds.of(test).run((random, round) -> equalsAModel(version, random));
    }

    private void equalsAModel(WriterVersion version, Random random) throws Exception {
        List<List<String>> model = new ArrayList<>();
        String schema =
                "message m { required int64 id; optional double d; optional binary t (STRING); required boolean b;"
                        + " optional group l (LIST) { repeated group list { required int32 element; } } }";
        boolean dictionary = random.nextBoolean();
        UnaryOperator<ExampleParquetWriter.Builder> options = builder -> builder.withWriterVersion(version)
                .withDictionaryEncoding(dictionary)
                .withRowGroupRowCountLimit(11_000)
                .withPageSize(4_000)
                .withPageWriteChecksumEnabled(true);
        byte[] file = MemoryOutput.write(schema, options, (factory, out) -> {
            for (int i = 0; i < 30_000; i++) {
                out.add(randomRow(factory, random, i, model));
            }
        });
        try (RowFile open = format.open(new BufferRangeReader("model", ByteBuffer.wrap(file)), ReadLimits.DEFAULT)) {
            assertThat(open.parts()).hasSize(3);
            assertThat(values(open, new int[] {0, 1, 2, 3, 4})).isEqualTo(model);
            assertSomeValues(open, random, model);
        }
    }

    private static Group randomRow(SimpleGroupFactory factory, Random random, long id, List<List<String>> model) {
        Group row = factory.newGroup();
        String[] values = new String[5];
        row.append("id", id);
        values[0] = Long.toString(id);
        if (random.nextInt(4) > 0) {
            double d = random.nextInt(500) / 8.0;
            row.append("d", d);
            values[1] = String.format("%016x", Double.doubleToRawLongBits(d));
        }
        if (random.nextInt(3) > 0) {
            String text = "t" + random.nextInt(900);
            row.append("t", text);
            values[2] = HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8));
        }
        boolean b = random.nextBoolean();
        row.append("b", b);
        values[3] = b ? "1" : "0";
        if (random.nextInt(5) > 0) {
            Group list = row.addGroup("l");
            int count = random.nextInt(4);
            StringBuilder hex = new StringBuilder();
            for (int i = 0; i < count; i++) {
                int n = random.nextInt(50);
                list.addGroup("list").append("element", n);
                hex.append(String.format("%02x000000", n));
            }
            values[4] = hex.toString();
        }
        model.add(Arrays.asList(values));
        return row;
    }

    /** Leaves out rows and columns, and asks twice. */
    private static void assertSomeValues(RowFile open, Random random, List<List<String>> model) throws Exception {
        for (RowPart part : open.parts()) {
            try (RowReader reader = open.read(part, new int[] {4, 1, 2})) {
                while (reader.next()) {
                    List<String> row = model.get((int) reader.position());
                    if (random.nextInt(3000) > 0 && random.nextInt(10) > 0) {
                        continue;
                    }
                    TextSink sink = new TextSink();
                    for (int i = 0; i < 2; i++) {
                        reader.get(0, sink);
                        assertThat(sink.text()).isEqualTo(row.get(4));
                        reader.get(1, sink);
                        assertThat(sink.text()).isEqualTo(row.get(1));
                    }
                    reader.get(2, sink);
                    assertThat(sink.text()).isEqualTo(row.get(2));
                }
            }
        }
    }

    private static List<List<String>> values(RowFile open, int[] columns) throws Exception {
        List<List<String>> rows = new ArrayList<>();
        for (RowPart part : open.parts()) {
            try (RowReader reader = open.read(part, columns)) {
                while (reader.next()) {
                    String[] row = new String[columns.length];
                    for (int i = 0; i < row.length; i++) {
                        TextSink sink = new TextSink();
                        reader.get(i, sink);
                        row[i] = sink.text();
                    }
                    rows.add(Arrays.asList(row));
                }
            }
        }
        return rows;
    }

    @Test
    void refusesALargeRowGroupBeforeReadingItUnlessItsLargeColumnsAreLeftOut() throws Exception {
        byte[] file = one(
                "message m { required int32 id; required binary image; }",
                row -> row.append("id", 1).append("image", Binary.fromConstantByteArray(new byte[3 << 20])));
        ReadLimits limits = new ReadLimits(2 << 20, 2 << 20, 32, 1000);
        try (RowFile open = format.open(new BufferRangeReader("large", ByteBuffer.wrap(file)), limits)) {
            assertThat(open.parts().get(0).memoryBytes()).isBetween(3L << 20, 7L << 20);
            assertThatThrownBy(() -> values(open, new int[] {0, 1}))
                    .isInstanceOf(UnsupportedFileException.class)
                    .hasMessageMatching(
                            "large: row group 0 needs [0-9]+ bytes of memory, but the limit is 2097152; .*");
            assertThat(values(open, new int[] {0})).containsExactly(List.of("1"));
        }
    }

    @Test
    void refusesAMapWithNullValuesAndOtherWordsOfParquet() throws Exception {
        byte[] file = one(
                "message m { required fixed_len_byte_array(12) i (INTERVAL); required int32 a;"
                        + " optional group v (VARIANT(1)) { required binary metadata; required binary value; } }",
                row -> row.append("i", Binary.fromConstantByteArray(new byte[12]))
                        .append("a", 1));
        assertThat(read(file).refused()).containsExactly("i", "v");
        assertThat(read(file).rows()).containsExactly(List.of("1"));
    }

    /** The codecs need native libraries to write, so only the footer names them. */
    @ParameterizedTest
    @EnumSource(
            value = CompressionCodec.class,
            names = {"LZO", "LZ4", "BROTLI"})
    void refusesCodecsByName(CompressionCodec codec) throws Exception {
        byte[] file = one("message m { required int32 a; }", row -> row.append("a", 1));
        int footer = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).getInt(file.length - 8);
        int start = file.length - 8 - footer;
        FileMetaData metadata = Util.readFileMetaData(new ByteArrayInputStream(file, start, footer));
        // The message must not ask for memory first, because it would not help.
        metadata.getRow_groups()
                .get(0)
                .getColumns()
                .get(0)
                .getMeta_data()
                .setCodec(codec)
                .setTotal_uncompressed_size(1L << 40);
        ByteArrayOutputStream patched = new ByteArrayOutputStream();
        patched.write(file, 0, start);
        Util.writeFileMetaData(metadata, patched);
        ByteBuffer end = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
        end.putInt(patched.size() - start).put("PAR1".getBytes(StandardCharsets.US_ASCII));
        patched.write(end.array());

        assertThatThrownBy(() -> read(patched.toByteArray()))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("column 'a' of row group 0 has compression " + codec + ", which");
    }
}
