package dev.stoker.schemas.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.HalfFloats;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.chunk.GoldenChunks;
import dev.stoker.schemas.crc.Crc32cs;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;
import org.junit.jupiter.api.Test;

class SampleValueTest {
    private final List<Field> fields = GoldenChunks.fields("chunk-1a");
    private final String schema = SampleSchema.of(fields);

    private Map<String, List<String>> classes() {
        List<String> names = new ArrayList<>();
        GoldenChunks.json("batch-1.json").get("classes").get("categorical").forEach(c -> names.add(c.asText()));
        return fields.stream()
                .filter(field -> field.type() == ScalarType.CATEGORICAL)
                .collect(Collectors.toMap(Field::name, field -> names));
    }

    private List<byte[]> values(OptionalInt id) throws IOException {
        SampleValue values = new SampleValue(fields, classes(), id);
        List<ArrowColumn> columns = values.columns(ByteBuffer.wrap(Golden.read("batch-1-all.bin")), "batch");
        List<byte[]> found = new ArrayList<>();
        for (int row = 0; row < columns.get(0).rows(); row++) {
            found.add(values.of(columns, row));
        }
        return found;
    }

    @Test
    void makesTheGoldenBytes() throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] value : values(OptionalInt.empty())) {
            all.write(ByteBuffer.allocate(4).putInt(value.length).array());
            all.write(value);
        }
        Golden.check("kafka-2-schema.avsc", schema.getBytes(StandardCharsets.UTF_8));
        Golden.check("kafka-2-all.bin", all.toByteArray());
    }

    @Test
    void avroReadsThemByTheSchema() throws IOException {
        Schema parsed = new Schema.Parser().parse(schema);
        List<byte[]> values = values(OptionalInt.empty());
        SampleValue own = new SampleValue(fields, classes(), OptionalInt.empty());
        List<ArrowColumn> columns = own.columns(ByteBuffer.wrap(Golden.read("batch-1-all.bin")), "batch");
        for (int row = 0; row < values.size(); row++) {
            BinaryDecoder in = DecoderFactory.get().binaryDecoder(values.get(row), null);
            GenericRecord record = new GenericDatumReader<GenericRecord>(parsed).read(null, in);
            assertThat(in.isEnd()).isTrue();
            assertThat(record.get("key")).hasToString(SampleValue.key(columns, row));
            for (int f = 0; f < fields.size(); f++) {
                ArrowColumn column = columns.get(f + 1);
                String name = fields.get(f).name().replaceAll("[^A-Za-z0-9_]", "_");
                Object value = record.get(name);
                if (column.isNull(row)) {
                    assertThat(value).as(name).isNull();
                } else if (column.field().type() instanceof DecimalType decimal) {
                    ByteBuffer unscaled = (ByteBuffer) value;
                    byte[] bytes = new byte[unscaled.remaining()];
                    unscaled.duplicate().get(bytes);
                    assertThat(new BigDecimal(new BigInteger(bytes), decimal.scale()))
                            .isEqualTo(column.decimalAt(row));
                } else if (column.field().type().items() != null) {
                    List<?> items = (List<?>) value;
                    assertThat(items).as(name).hasSize(column.itemCount(row));
                    for (int i = 0; i < items.size(); i++) {
                        assertThat(items.get(i) == null).as(name).isEqualTo(column.isNullItem(row, i));
                        if (items.get(i) == null) {
                            continue;
                        }
                        assertThat(item(column.field().type(), items.get(i)))
                                .as(name)
                                .isEqualTo(column.itemAt(row, i));
                    }
                } else if (column.field().type() instanceof ListType list) {
                    assertThat(elements(list.element(), (List<?>) value))
                            .as(name)
                            .isEqualTo(column.bytesAt(row));
                } else if (value instanceof ByteBuffer bytes) {
                    assertThat(bytes).as(name).isEqualTo(column.bytesAt(row));
                } else if (fields.get(f).type() == ScalarType.CATEGORICAL) {
                    assertThat(value)
                            .hasToString(classes().get(fields.get(f).name()).get(column.intAt(row)));
                }
                if (fields.get(f).payload()) {
                    assertThat(record.get("crc32c_" + name))
                            .isEqualTo(Integer.toUnsignedLong(Crc32cs.of(column.bytesAt(row))));
                }
            }
        }
    }

    private static ByteBuffer item(FieldType type, Object item) {
        if (type instanceof ListType list && list.isOfLists()) {
            return elements(list.element(), (List<?>) item);
        }
        if (type instanceof ListType list && list.element().isNumber()) {
            return elements(list.element(), List.of(item));
        }
        return item instanceof CharSequence text
                ? ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.UTF_8))
                : (ByteBuffer) item;
    }

    /** The elements of a column that a consumer's numbers stand for. */
    private static ByteBuffer elements(ScalarType type, List<?> numbers) {
        ByteBuffer bytes = ByteBuffer.allocate(numbers.size() * type.width()).order(ByteOrder.LITTLE_ENDIAN);
        for (Object number : numbers) {
            switch (type) {
                case FLOAT16 -> bytes.putShort(HalfFloats.float16((Float) number));
                case BFLOAT16 -> bytes.putShort(HalfFloats.bfloat16((Float) number));
                case FLOAT32 -> bytes.putFloat((Float) number);
                case FLOAT64 -> bytes.putDouble((Double) number);
                case INT8, UINT8 -> bytes.put(((Integer) number).byteValue());
                case INT16, UINT16 -> bytes.putShort(((Integer) number).shortValue());
                case INT32 -> bytes.putInt((Integer) number);
                case UINT32 -> bytes.putInt(((Long) number).intValue());
                default -> bytes.putLong((Long) number);
            }
        }
        return bytes.flip();
    }

    @Test
    void listsOfNumbersAreArrays() {
        String made = SampleSchema.of(List.of(
                Field.small("a", FieldType.parse("int32[]")),
                Field.small("b", FieldType.parse("float16?[]")),
                Field.small("c", FieldType.parse("uint32[][]")),
                Field.small("d", FieldType.parse("utf8?[]")),
                Field.small("e", FieldType.parse("float32[2,2]"))));
        assertThat(new Schema.Parser().parse(made).getFields())
                .extracting(field -> field.schema().toString())
                .containsExactly(
                        "\"string\"",
                        "{\"type\":\"array\",\"items\":\"int\"}",
                        "{\"type\":\"array\",\"items\":[\"null\",\"float\"]}",
                        "{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":\"long\"}}",
                        "{\"type\":\"array\",\"items\":[\"null\",\"string\"]}",
                        "\"bytes\"");
    }

    @Test
    void aSchemasIdStandsBefore() throws IOException {
        byte[] plain = values(OptionalInt.empty()).get(0);
        byte[] framed = values(OptionalInt.of(0x01020304)).get(0);

        assertThat(framed).hasSize(plain.length + 5).startsWith(0, 1, 2, 3, 4).endsWith(plain);
    }

    @Test
    void namesThatAvroDoesNotKnowAreMadeAnew() {
        String made = SampleSchema.of(List.of(
                Field.small("a-b", fields.get(0).type()),
                Field.small("a.b", fields.get(0).type())));

        assertThat(new Schema.Parser().parse(made).getFields())
                .extracting(Schema.Field::name)
                .containsExactly("key", "a_b", "a_b_");
        assertThat(made).contains("\"stoker.field\":\"a.b\"");
    }
}
