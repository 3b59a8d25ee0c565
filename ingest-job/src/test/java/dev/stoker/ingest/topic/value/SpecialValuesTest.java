package dev.stoker.ingest.topic.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkFixtures;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.io.BufferRangeReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.IntStream;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Times, decimals and nested lists in values of JSON and Avro. */
class SpecialValuesTest {
    private static final String AVRO = """
            {"type":"record","name":"Event","fields":[
             {"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},
             {"name":"local","type":["null",{"type":"long","logicalType":"local-timestamp-micros"}],"default":null},
             {"name":"nanos","type":{"type":"long","logicalType":"timestamp-nanos"}},
             {"name":"day","type":{"type":"int","logicalType":"date"}},
             {"name":"ms","type":{"type":"int","logicalType":"time-millis"}},
             {"name":"us","type":{"type":"long","logicalType":"time-micros"}},
             {"name":"price","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}},
             {"name":"fixed","type":
              {"type":"fixed","name":"F","size":8,"logicalType":"decimal","precision":18,"scale":0}},
             {"name":"huge","type":{"type":"bytes","logicalType":"decimal","precision":50,"scale":2}},
             {"name":"id","type":{"type":"string","logicalType":"uuid"}},
             {"name":"tags","type":{"type":"array","items":"string"}},
             {"name":"parts","type":{"type":"array","items":"bytes"}},
             {"name":"boxes","type":{"type":"array","items":{"type":"array","items":"float"}}}]}""";

    private static List<Field> fields(String... types) {
        List<Field> fields = new ArrayList<>();
        for (String type : types) {
            int colon = type.indexOf(':');
            fields.add(Field.small(type.substring(0, colon), FieldType.parse(type.substring(colon + 1))));
        }
        return fields;
    }

    /** The columns of a chunk with one sample of this value. */
    private static ChunkHead decoded(List<Field> fields, RecordFormat format, byte[] value) throws Exception {
        List<Integer> own = IntStream.range(0, fields.size()).boxed().toList();
        FieldValues values = new FieldValues(format, fields, own, new Properties());
        ChunkBuilder builder = new ChunkBuilder(fields, 4096);
        builder.beginRow("k");
        // As in a fetch, where a value is a part of an array.
        ByteBuffer fetch = ByteBuffer.allocate(value.length + 8).put(3, value);
        values.set(fetch.slice(3, value.length), builder);
        builder.endRow();
        ByteBuffer file = ChunkFixtures.bytes(builder.finish(ChunkFixtures.identity(1)));
        return ChunkReader.open(new BufferRangeReader("chunk", file));
    }

    private static ChunkHead json(List<Field> fields, String value) throws Exception {
        RecordFormat format = new RecordFormat(RecordFormat.Kind.JSON, null, null, RecordFormat.Wire.PLAIN, null);
        return decoded(fields, format, value.getBytes(StandardCharsets.UTF_8));
    }

    private static RecordFormat plain(String schema) {
        return new RecordFormat(RecordFormat.Kind.AVRO, null, schema, RecordFormat.Wire.PLAIN, null);
    }

    private static byte[] avro(String schema, Map<String, Object> values) throws IOException {
        Schema parsed = new Schema.Parser().parse(schema);
        GenericRecord record = new GenericData.Record(parsed);
        values.forEach(record::put);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
        new GenericDatumWriter<GenericRecord>(parsed).write(record, encoder);
        encoder.flush();
        return out.toByteArray();
    }

    private static List<String> texts(ArrowColumn column) {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < column.itemCount(0); i++) {
            texts.add(StandardCharsets.UTF_8.decode(column.itemAt(0, i)).toString());
        }
        return texts;
    }

    @Test
    void readsTextAndNumbersOfJson() throws Exception {
        List<Field> fields = fields(
                "at:timestamp[ms,Europe/Berlin]",
                "local:timestamp[us]",
                "count:timestamp[s]",
                "day:date",
                "noon:time[ms]",
                "price:decimal(38,2)",
                "text:decimal(38,20)",
                "tags:utf8[]",
                "parts:binary[]",
                "boxes:int16[][]");
        ChunkHead head = json(fields, """
                {"at":"2026-01-31T13:00:00.5+01:00","local":"2026-01-31 12:00:00.000001","count":-5,"day":"1969-12-31",
                "noon":43200000,"price":123456789012345678901234567890123456.78,"text":"-0.00000000000000000001",
                "tags":["ä","","x"],"parts":["AAE=",""],"boxes":[[1,-2],[],[32767]]}""");
        assertThat(head.column(0).longAt(0)).isEqualTo(1_769_860_800_500L);
        assertThat(head.column(1).longAt(0)).isEqualTo(1_769_860_800_000_001L);
        assertThat(head.column(2).longAt(0)).isEqualTo(-5);
        assertThat(head.column(3).longAt(0)).isEqualTo(-1);
        assertThat(head.column(4).longAt(0)).isEqualTo(43_200_000);
        assertThat(head.column(5).decimalAt(0)).isEqualTo("123456789012345678901234567890123456.78");
        assertThat(head.column(6).decimalAt(0)).isEqualTo(new BigDecimal("-0.00000000000000000001"));
        assertThat(texts(head.column(7))).containsExactly("ä", "", "x");
        assertThat(head.column(8).itemAt(0, 0)).isEqualTo(ByteBuffer.wrap(new byte[] {0, 1}));
        assertThat(head.column(8).itemCount(0)).isEqualTo(2);
        assertThat(head.column(9).itemCount(0)).isEqualTo(3);
        assertThat(head.column(9).itemAt(0, 0).getShort(2)).isEqualTo((short) -2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "timestamp[s];\"2026-01-31T12:00:00Z\";is not timestamp[s]; expected ISO 8601",
                "timestamp[s];1.5;is not timestamp[s]; expected ISO 8601",
                "date;true;a bool is not date",
                "time[s];86400;is not between 0 and 86399",
                "decimal(3,1);100;at most 2 digits before",
                "decimal(3,1);\"ten\";'ten' is not decimal(3,1)",
                "utf8[];\"text\";text is not utf8[]",
                "utf8[];[null];an item of the list is null",
                "float64;9007199254740993;9007199254740993 is not exactly a float64",
                "float64;1e400;'1e400' is too large for a float64",
                "float64;-1e400;'-1e400' is too large for a float64",
                "float32;1e39;1.0E39 is too large for a float32",
                "float32[];[0, 1e39];1.0E39 is too large for a float32",
                "float64[];[9007199254740993];is not exactly a float64",
                "float32?[];[null, 1e400];is too large for a float64",
                "float64;\"1\";the text '1' is not float64",
                "int64;1.5;the number '1.5' is not an int64",
                "int64;9223372036854775808;'9223372036854775808' does not fit into int64",
                "uint64;-1;-1 does not fit into uint64",
                "int8;300;its field x: 300 is not between -128 and 127",
                "int32[];{};an object is not int32[]",
                "int8[][];[[1],[128]];128 does not fit into int8",
                "int8[][];[1];a number in a list is not int8[][]"
            })
    void namesWrongValuesOfJson(String type, String value, String why) {
        assertThatThrownBy(() -> json(fields("x:" + type), "{\"x\":" + value + "}"))
                .isInstanceOf(PoisonException.class)
                .hasMessageStartingWith("its field x: ")
                .hasMessageContaining(why);
    }

    @Test
    void saysWhyAValueIsNotJson() {
        assertThatThrownBy(() -> json(fields("x:float64"), "{\"x\":NaN}"))
                .isInstanceOf(PoisonException.class)
                .hasMessage("it is not a JSON object: NaN and Infinity are not JSON; write null");
        assertThatThrownBy(() -> json(fields("x:float64"), "{\"x\":1,}"))
                .isInstanceOf(PoisonException.class)
                .hasMessageStartingWith("it is not a JSON object: ")
                .hasMessageEndingWith(" at column 8");
    }

    @Test
    void storesNumbersThatTheirTypesHold() throws Exception {
        ChunkHead head =
                json(fields("d:float64", "f:float32", "big:uint64", "b:uint8", "ds:float64[]", "bits:uint8[]"), """
                {"d":9007199254740992,"f":16777216,"big":18446744073709551615,"b":255,"ds":[1,2.5],"bits":[true,0]}""");
        assertThat(head.column(0).doubleAt(0)).isEqualTo(9007199254740992.0);
        assertThat(head.column(1).doubleAt(0)).isEqualTo(16777216.0);
        assertThat(head.column(2).longAt(0)).isEqualTo(-1);
        assertThat(head.column(3).longAt(0)).isEqualTo(255);
        assertThat(head.column(4).bytesAt(0).getDouble(8)).isEqualTo(2.5);
        assertThat(head.column(5).bytesAt(0).get(0)).isEqualTo((byte) 1);
    }

    @Test
    void refusesNumbersOfAvroThatTheTypeDoesNotHold() throws Exception {
        String schema = """
                {"type":"record","name":"E","fields":[{"name":"d","type":"double"},{"name":"l","type":"long"}]}""";
        for (Map.Entry<String, String> wrong : Map.of(
                        "d:float32",
                        "is too large for a float32",
                        "l:float64",
                        "is not exactly a float64",
                        "l:int32",
                        "is not between -2147483648 and 2147483647",
                        "d:int64",
                        "does not hold")
                .entrySet()) {
            List<Field> fields = fields(wrong.getKey());
            byte[] value = avro(schema, Map.of("d", 1e300, "l", (1L << 53) + 1));
            assertThatThrownBy(() -> decoded(fields, plain(schema), value))
                    .isInstanceOf(PoisonException.class)
                    .hasMessageContaining(wrong.getValue());
        }
    }

    @Test
    void derivesFieldsFromLogicalTypes() {
        List<String> notes = new ArrayList<>();
        assertThat(AvroFields.of(AvroFields.parse(AVRO), notes))
                .extracting(field -> field.name() + ":" + field.type() + (field.nullable() ? "?" : ""))
                .containsExactly(
                        "at:timestamp[ms,UTC]",
                        "local:timestamp[us]?",
                        "nanos:timestamp[ns,UTC]",
                        "day:date",
                        "ms:time[ms]",
                        "us:time[us]",
                        "price:decimal(9,2)",
                        "fixed:decimal(18,0)",
                        "id:utf8",
                        "tags:utf8[]",
                        "parts:binary[]",
                        "boxes:float32[][]");
        assertThat(notes).singleElement().asString().contains("huge (bytes decimal) is ignored", "38");
    }

    private static Map<String, Object> event() {
        Map<String, Object> event = new HashMap<>();
        event.put("at", 1_769_860_800_500L);
        event.put("local", 1_769_860_800_000_001L);
        event.put("nanos", -1L);
        event.put("day", 20484);
        event.put("ms", 86_399_999);
        event.put("us", 0L);
        event.put("price", ByteBuffer.wrap(new byte[] {(byte) 0xFF, 0x38}));
        Schema fixed = new Schema.Parser().parse(AVRO).getField("fixed").schema();
        event.put("fixed", new GenericData.Fixed(fixed, new byte[] {0, 0, 0, 0, 0, 0, 1, 0}));
        event.put("huge", ByteBuffer.wrap(new byte[] {7}));
        event.put("id", "0-1");
        event.put("tags", List.of("a", "ö"));
        event.put("parts", List.of(ByteBuffer.wrap(new byte[3])));
        event.put("boxes", List.of(List.of(0.5f, 1f), List.of()));
        return event;
    }

    @Test
    void readsLogicalTypesOfAvro() throws Exception {
        List<Field> fields = AvroFields.of(AvroFields.parse(AVRO), new ArrayList<>());
        ChunkHead head = decoded(fields, plain(AVRO), avro(AVRO, event()));
        assertThat(head.column(0).longAt(0)).isEqualTo(1_769_860_800_500L);
        assertThat(head.column(1).longAt(0)).isEqualTo(1_769_860_800_000_001L);
        assertThat(head.column(3).longAt(0)).isEqualTo(20484);
        assertThat(head.column(6).decimalAt(0)).isEqualTo("-2.00");
        assertThat(head.column(7).decimalAt(0)).isEqualTo("256");
        assertThat(texts(head.column(9))).containsExactly("a", "ö");
        assertThat(head.column(10).itemAt(0, 0).remaining()).isEqualTo(3);
        assertThat(head.column(11).itemAt(0, 0).getFloat(0)).isEqualTo(0.5f);
        assertThat(head.column(11).itemCount(0)).isEqualTo(2);
    }

    private static List<Boolean> nulls(ArrowColumn column) {
        return IntStream.range(0, column.itemCount(0))
                .mapToObj(item -> column.isNullItem(0, item))
                .toList();
    }

    @Test
    void readsNullItemsOfJson() throws Exception {
        List<Field> fields = fields("counts:int32?[]", "scores:float64?[]", "tags:utf8?[]", "parts:binary?[]");
        ChunkHead head = json(fields, """
                {"counts":[1,null,-2147483648],"scores":[null,0.5],"tags":["ä",null],"parts":[null,"AAE=",""]}""");
        assertThat(nulls(head.column(0))).containsExactly(false, true, false);
        assertThat(head.column(0).intsAt(0)).containsExactly(1, 0, Integer.MIN_VALUE);
        assertThat(nulls(head.column(1))).containsExactly(true, false);
        assertThat(head.column(1).bytesAt(0).getDouble(8)).isEqualTo(0.5);
        assertThat(nulls(head.column(2))).containsExactly(false, true);
        assertThat(texts(head.column(2))).containsExactly("ä", "");
        assertThat(nulls(head.column(3))).containsExactly(true, false, false);
        assertThat(head.column(3).itemAt(0, 1)).isEqualTo(ByteBuffer.wrap(new byte[] {0, 1}));
        assertThatThrownBy(() -> json(fields("counts:int32?[]"), "{\"counts\":[\"a\"]}"))
                .hasMessageContaining("text is not int32");
    }

    @Test
    void itemsOfAvroThatAreOptionalMakeListsWithNullItems() throws Exception {
        String schema = """
                {"type":"record","name":"E","fields":[
                 {"name":"counts","type":{"type":"array","items":["null","int"]}},
                 {"name":"scores","type":["null",{"type":"array","items":["float","null"]}]},
                 {"name":"tags","type":{"type":"array","items":["null","string"]}},
                 {"name":"lists","type":{"type":"array","items":["null",{"type":"array","items":"int"}]}}]}""";
        List<String> notes = new ArrayList<>();
        List<Field> fields = AvroFields.of(AvroFields.parse(schema), notes);
        assertThat(fields)
                .extracting(field -> field.name() + ":" + field.type() + (field.nullable() ? "?" : ""))
                .containsExactly("counts:int32?[]", "scores:float32?[]?", "tags:utf8?[]", "lists:int32[][]");
        assertThat(notes).isEmpty();
        Map<String, Object> event = new HashMap<>();
        event.put("counts", Arrays.asList(7, null));
        event.put("scores", Arrays.asList(null, 0.25f));
        event.put("tags", Arrays.asList(null, "x"));
        event.put("lists", List.of());
        ChunkHead head = decoded(fields, plain(schema), avro(schema, event));
        assertThat(nulls(head.column(0))).containsExactly(false, true);
        assertThat(head.column(0).intsAt(0)).containsExactly(7, 0);
        assertThat(nulls(head.column(1))).containsExactly(true, false);
        assertThat(head.column(1).bytesAt(0).getFloat(4)).isEqualTo(0.25f);
        assertThat(nulls(head.column(2))).containsExactly(true, false);
        assertThat(texts(head.column(2))).containsExactly("", "x");
    }

    @Test
    void convertsUnitsAndScalesWithoutRounding() throws Exception {
        List<Field> fields = fields("at:timestamp[ns,Asia/Tokyo]", "us:time[s]", "price:decimal(38,4)", "day:date");
        ChunkHead head = decoded(fields, plain(AVRO), avro(AVRO, event()));
        assertThat(head.column(0).longAt(0)).isEqualTo(1_769_860_800_500_000_000L);
        assertThat(head.column(1).longAt(0)).isZero();
        assertThat(head.column(2).decimalAt(0)).isEqualTo("-2.0000");
        for (String wrong :
                List.of("at:timestamp[s,UTC]", "at:timestamp[ms]", "at:date", "day:time[s]", "price:decimal(2,0)")) {
            List<Field> other = fields(wrong);
            byte[] value = wrong.startsWith("price") ? avro(AVRO, with("price", new byte[] {1})) : avro(AVRO, event());
            assertThatThrownBy(() -> decoded(other, plain(AVRO), value))
                    .as(wrong)
                    .isInstanceOf(PoisonException.class)
                    .hasMessageStartingWith("its field " + other.get(0).name() + ": ");
        }
    }

    private static Map<String, Object> with(String name, byte[] value) {
        Map<String, Object> event = event();
        event.put(name, ByteBuffer.wrap(value));
        return event;
    }
}
