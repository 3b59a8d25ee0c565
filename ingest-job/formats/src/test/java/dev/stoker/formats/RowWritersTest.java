package dev.stoker.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.formats.arrow.ArrowFormat;
import dev.stoker.formats.arrow.ArrowRowWriter;
import dev.stoker.formats.avro.AvroFormat;
import dev.stoker.formats.avro.AvroRowWriter;
import dev.stoker.formats.json.JsonLinesFormat;
import dev.stoker.formats.json.JsonLinesWriter;
import dev.stoker.formats.parquet.ParquetFormat;
import dev.stoker.formats.parquet.write.ParquetRowWriter;
import dev.stoker.formats.tfrecord.TfRecordFormat;
import dev.stoker.formats.tfrecord.TfRecordWriter;
import dev.stoker.formats.webdataset.WebDatasetFormat;
import dev.stoker.formats.webdataset.WebDatasetWriter;
import dev.stoker.formats.write.UnwritableValueException;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files of the writers, read by the readers of this module. */
class RowWritersTest {
    private static final List<Field> FIELDS = List.of(
            Field.nullable("label", ScalarType.CATEGORICAL),
            Field.nullable("flag", ScalarType.BOOL),
            Field.nullable("age", ScalarType.INT16),
            Field.nullable("big", ScalarType.UINT32),
            Field.nullable("score", ScalarType.FLOAT32),
            Field.nullable("exact", ScalarType.FLOAT64),
            Field.nullable("day", ScalarType.DATE),
            Field.nullable("when", FieldType.parse("timestamp[us,Europe/Berlin]")),
            Field.nullable("clock", FieldType.parse("time[ms]")),
            Field.nullable("price", FieldType.parse("decimal(30,2)")),
            Field.nullable("tokens", FieldType.parse("int32[]")),
            Field.nullable("tags", FieldType.parse("utf8[]")),
            Field.nullable("boxes", FieldType.parse("int32[][]")),
            Field.nullable("shape", FieldType.parse("float32[2,2]")),
            new Field("image", ScalarType.BINARY, true, true));

    private static List<List<Object>> rows() {
        List<List<Object>> rows = new ArrayList<>();
        rows.add(Arrays.asList(
                "a/1",
                "cat",
                true,
                -5L,
                0xFFFFFFFFL,
                1.5,
                -1e300,
                -3L,
                -1_500_000L,
                86_399_999L,
                new BigDecimal("-1234567890123456789012345678.90").setScale(2),
                Batches.ints(1, -2, 3),
                List.of("x", "ü", ""),
                new ByteBuffer[] {ByteBuffer.wrap(Batches.ints(7, 8)), ByteBuffer.wrap(Batches.ints())},
                Batches.floats(1, 2, 3, 4.5f),
                "image".getBytes(StandardCharsets.UTF_8)));
        rows.add(Arrays.asList(
                "b", null, null, null, null, null, null, null, null, null, null, null, null, null, null, new byte[0]));
        rows.add(Arrays.asList(
                "c",
                "dog",
                false,
                7L,
                0L,
                -0.0,
                0.1,
                0L,
                0L,
                0L,
                new BigDecimal("0.01"),
                Batches.ints(),
                List.of(),
                new ByteBuffer[] {},
                Batches.floats(0, 0, 0, 0),
                null));
        return rows;
    }

    private static final String IMAGE = "{\"hex\":\"696d616765\"}";
    private static final String PRICE = "\"-1234567890123456789012345678.90\"";

    private static String[] expected(String flags, String shapes) {
        String[] flag = flags.split("/");
        String[] shape = shapes.split("/");
        return new String[] {
            "[\"a/1\",\"cat\"," + flag[0] + ",-5,4294967295,1.5,-1.0E300,-3,-1500000,86399999," + PRICE
                    + ",[1,-2,3],[\"x\",\"ü\",\"\"],[[7,8],[]]," + shape[0] + "," + IMAGE + "]",
            "[\"b\",null,null,null,null,null,null,null,null,null,null,null,null,null,null,{\"hex\":\"\"}]",
            "[\"c\",\"dog\"," + flag[1] + ",7,0,-0.0,0.1,0,0,0,\"0.01\",[],[],[]," + shape[1] + ",null]"
        };
    }

    private static List<String> read(RowFormat format, String name, byte[] file) throws Exception {
        try (RowFile open = format.open(Rows.file(name, file), ReadLimits.DEFAULT)) {
            return Rows.read(open);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "snappy", "gzip", "zstd"})
    void parquetFilesHoldAllValues(String compression) throws Exception {
        byte[] file = Batches.of(FIELDS, rows()).compressed(compression).write(new ParquetRowWriter(), 2);
        String[] once = expected("1/0", "[1.0,2.0,3.0,4.5]/[0.0,0.0,0.0,0.0]");
        assertThat(read(new ParquetFormat(), "a.parquet", file))
                .containsExactly(once[0], once[1], once[2], once[0], once[1], once[2]);
        assertThat(file)
                .isEqualTo(Batches.of(FIELDS, rows()).compressed(compression).write(new ParquetRowWriter(), 2));
    }

    @Test
    void arrowFilesHoldAllValues() throws Exception {
        byte[] file = Batches.of(FIELDS, rows()).write(new ArrowRowWriter(), 2);
        String[] once = expected("1/0", "[1.0,2.0,3.0,4.5]/[0.0,0.0,0.0,0.0]");
        assertThat(read(new ArrowFormat(), "a.arrow", file))
                .containsExactly(once[0], once[1], once[2], once[0], once[1], once[2]);
        try (RowFile open = new ArrowFormat().open(Rows.file("a", file), ReadLimits.DEFAULT)) {
            assertThat(Rows.columns(open).stream().map(column -> column.get(1)))
                    .contains("float32[2,2]", "timestamp[us,Europe/Berlin]", "categorical", "int32[][]");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "deflate", "zstd"})
    void avroFilesHoldAllValues(String compression) throws Exception {
        byte[] file = Batches.of(FIELDS, rows()).compressed(compression).write(new AvroRowWriter(), 1);
        assertThat(read(new AvroFormat(), "a.avro", file))
                .containsExactly(expected("1/0", "[1.0,2.0,3.0,4.5]/[0.0,0.0,0.0,0.0]"));
    }

    @Test
    void avroRefusesTypesAndNamesThatItDoesNotHave() throws Exception {
        Batches.Made made = Batches.of(
                List.of(Field.small("a.b", ScalarType.INT32), Field.small("u", FieldType.parse("uint64[]"))),
                List.of(List.of("k", 1L, new byte[8])));
        assertThat(new AvroRowWriter().problems(made.table()))
                .containsExactly(
                        "column a.b: a name in Avro has ASCII letters, digits and underscores; rename it, such as"
                                + " --rename a.b=a_b",
                        "column u: Avro cannot hold uint64[]; leave such columns out with --columns key,a.b, or export"
                                + " to parquet");
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "gzip", "zstd"})
    void jsonLinesHoldAllButBytes(String compression) throws Exception {
        List<Field> fields = FIELDS.subList(0, FIELDS.size() - 1);
        List<List<Object>> rows = new ArrayList<>();
        rows().forEach(row -> rows.add(row.subList(0, row.size() - 1)));
        JsonLinesWriter format = new JsonLinesWriter();
        byte[] file = Batches.of(fields, rows).compressed(compression).write(format, 1);
        assertThat(read(new JsonLinesFormat(), "a" + format.ending(compression), file))
                .containsExactly(
                        "[\"a/1\",\"cat\",1,-5,4294967295,1.5,-1.0E300,\"1969-12-29\",\"1969-12-31T23:59:58.5Z\","
                                + "\"23:59:59.999\"," + PRICE
                                + ",[1,-2,3],[\"x\",\"ü\",\"\"],[[7,8],[]],[[1.0,2.0],[3.0,4.5]]]",
                        "[\"b\",null,null,null,null,null,null,null,null,null,null,null,null,null,null]",
                        "[\"c\",\"dog\",0,7,0,-0.0,0.1,\"1970-01-01\",\"1970-01-01T00:00:00Z\",\"00:00:00\","
                                + "\"0.01\",[],[],[],[[0.0,0.0],[0.0,0.0]]]");
        assertThat(format.problems(Batches.of(FIELDS, rows()).table()))
                .singleElement()
                .asString()
                .startsWith("column image: JSON cannot hold binary; leave such columns out with --columns key,")
                .endsWith(", or export to parquet or webdataset")
                .doesNotContain(",image");
    }

    @Test
    void jsonRefusesNumbersThatItDoesNotHave() throws Exception {
        Batches.Made made = Batches.of(
                List.of(Field.small("x", ScalarType.FLOAT64)), List.of(List.of("good", 1.0), List.of("bad", 0.0 / 0)));
        assertThatThrownBy(() -> made.write(new JsonLinesWriter(), 1))
                .isInstanceOf(UnwritableValueException.class)
                .hasMessage("Cannot export the sample bad, column x: JSON cannot hold NaN; export to parquet");
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "gzip"})
    void tfRecordsHoldListsOfBytesFloatsAndIntegers(String compression) throws Exception {
        List<Field> fields = List.of(
                Field.nullable("age", ScalarType.INT16),
                Field.nullable("tokens", FieldType.parse("int32[]")),
                Field.nullable("shape", FieldType.parse("float32[2,2]")),
                Field.nullable("tags", FieldType.parse("utf8[]")));
        List<List<Object>> rows = List.of(
                List.of("a", -5L, Batches.ints(1, -2), Batches.floats(1, 2, 3, 4), List.of("x", "ü")),
                Arrays.asList("b", null, Batches.ints(), null, List.of()),
                Arrays.asList("c", 3L, null, Batches.floats(0, 0, 0, 0), null));
        TfRecordWriter format = new TfRecordWriter();
        byte[] file = Batches.of(fields, rows).compressed(compression).write(format, 1);
        assertThat(read(new TfRecordFormat(), "a" + format.ending(compression), file))
                .containsExactlyInAnyOrder(
                        "[{\"hex\":\"61\"},-5,[1,-2],[1.0,2.0,3.0,4.0],[{\"hex\":\"78\"},{\"hex\":\"c3bc\"}]]",
                        "[{\"hex\":\"62\"},null,[],null,[]]",
                        "[{\"hex\":\"63\"},3,null,[0.0,0.0,0.0,0.0],null]");
        assertThat(format.problems(Batches.of(FIELDS, rows()).table()))
                .hasSize(3)
                .anyMatch(problem -> problem.startsWith("column exact: TFRecord"))
                .anyMatch(problem -> problem.startsWith("column price"))
                .anyMatch(problem -> problem.startsWith("column boxes"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "gzip", "zstd"})
    void archivesHoldAMemberForEachValue(String compression) throws Exception {
        WebDatasetWriter format = new WebDatasetWriter();
        List<Field> fields =
                List.of(Field.nullable("cls", ScalarType.INT32), new Field("jpg", ScalarType.BINARY, true, true));
        String longKey = "d/".repeat(120) + "ü";
        List<List<Object>> rows = List.of(
                List.of("a/1", 3L, "one".getBytes(StandardCharsets.UTF_8)),
                Arrays.asList("a/b.c", null, new byte[0]),
                Arrays.asList(longKey, 4L, null));
        byte[] file = Batches.of(fields, rows).compressed(compression).write(format, 1);
        assertThat(read(new WebDatasetFormat(), "a" + format.ending(compression), file))
                .containsExactly(
                        "[\"a/1\",3,{\"hex\":\"6f6e65\"}]",
                        "[\"a/b%2Ec\",null,{\"hex\":\"\"}]",
                        "[\"" + longKey + "\",4,null]");
    }

    @Test
    void archivesRefuseSamplesThatTheyWouldLose() throws Exception {
        Batches.Made made = Batches.of(
                List.of(Field.nullable("Age", ScalarType.INT32)), List.of(Arrays.asList("none", (Object) null)));
        assertThat(new WebDatasetWriter().problems(made.table()))
                .containsExactly("column Age: the ending of a member is in lower case, without slashes, spaces and"
                        + " outer dots; rename it, such as --rename Age=age");
        assertThatThrownBy(() -> made.write(new WebDatasetWriter(), 1))
                .hasMessageContaining("sample none")
                .hasMessageContaining("no value in any column");
    }

    @Test
    void filesWithoutRowsCanBeRead() throws Exception {
        List<Field> fields = List.of(Field.small("n", ScalarType.INT32));
        Batches.Made made = Batches.of(fields, List.of(List.of("k", 1L)));
        assertThat(read(new ParquetFormat(), "a.parquet", made.write(new ParquetRowWriter(), 0)))
                .isEmpty();
        assertThat(read(new ArrowFormat(), "a.arrow", made.write(new ArrowRowWriter(), 0)))
                .isEmpty();
        assertThat(read(new AvroFormat(), "a.avro", made.write(new AvroRowWriter(), 0)))
                .isEmpty();
        assertThat(read(new WebDatasetFormat(), "a.tar", made.write(new WebDatasetWriter(), 0)))
                .isEmpty();
        assertThat(made.write(new JsonLinesWriter(), 0)).isEmpty();
        assertThat(made.write(new TfRecordWriter(), 0)).isEmpty();
    }
}
