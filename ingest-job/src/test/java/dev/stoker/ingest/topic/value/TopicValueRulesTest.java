package dev.stoker.ingest.topic.value;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.TimeText;
import dev.stoker.schemas.testing.ValueRules;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A value of a record has the meaning that it has in a file. */
class TopicValueRulesTest {

    private static @Nullable Object decoded(ValueRules.Case value, RecordFormat format, byte[] record)
            throws Exception {
        FieldValues values = new FieldValues(format, value.fields(), Set.of(0), new Properties());
        return ValueRules.stored(value, row -> values.set(ByteBuffer.wrap(record), row));
    }

    private static RecordFormat format(RecordFormat.Kind kind, @Nullable Schema schema) {
        String text = schema == null ? null : schema.toString();
        return new RecordFormat(kind, null, text, RecordFormat.Wire.PLAIN, null);
    }

    @Test
    void aValueOfJsonIsTheSame() {
        assertThat(ValueRules.disagreements(
                        "topic_json",
                        value -> decoded(
                                value, format(RecordFormat.Kind.JSON, null), Objects.requireNonNull(value.record()))))
                .isEmpty();
    }

    @Test
    void aValueOfAvroIsTheSame() {
        assertThat(ValueRules.disagreements("topic_avro", TopicValueRulesTest::avro))
                .isEmpty();
    }

    private static @Nullable Object avro(ValueRules.Case value) throws Exception {
        FieldType given = value.given().orElseThrow();
        Schema own = schema(given);
        Schema optional = Schema.createUnion(Schema.create(Schema.Type.NULL), own);
        Schema schema = SchemaBuilder.record("R")
                .fields()
                .name("x")
                .type(optional)
                .noDefault()
                .endRecord();
        GenericRecord record = new GenericData.Record(schema);
        record.put("x", value(given, value.value()));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
        new GenericDatumWriter<GenericRecord>(schema).write(record, encoder);
        encoder.flush();
        return decoded(value, format(RecordFormat.Kind.AVRO, schema), out.toByteArray());
    }

    private static Schema schema(FieldType type) {
        if (type instanceof ListType list) {
            Schema item = schema(list.item());
            return Schema.createArray(
                    list.nullItems() ? Schema.createUnion(Schema.create(Schema.Type.NULL), item) : item);
        }
        if (type instanceof DecimalType decimal) {
            return LogicalTypes.decimal(decimal.precision(), decimal.scale())
                    .addToSchema(Schema.create(Schema.Type.BYTES));
        }
        return switch (type.canonical()) {
            case "bool" -> Schema.create(Schema.Type.BOOLEAN);
            case "int32" -> Schema.create(Schema.Type.INT);
            case "int64" -> Schema.create(Schema.Type.LONG);
            case "float32" -> Schema.create(Schema.Type.FLOAT);
            case "float64" -> Schema.create(Schema.Type.DOUBLE);
            case "utf8" -> Schema.create(Schema.Type.STRING);
            case "date" -> LogicalTypes.date().addToSchema(Schema.create(Schema.Type.INT));
            case "time[ms]" -> LogicalTypes.timeMillis().addToSchema(Schema.create(Schema.Type.INT));
            case "time[us]" -> LogicalTypes.timeMicros().addToSchema(Schema.create(Schema.Type.LONG));
            case "timestamp[ms]" -> LogicalTypes.localTimestampMillis().addToSchema(Schema.create(Schema.Type.LONG));
            case "timestamp[us]" -> LogicalTypes.localTimestampMicros().addToSchema(Schema.create(Schema.Type.LONG));
            case "timestamp[ns]" -> LogicalTypes.localTimestampNanos().addToSchema(Schema.create(Schema.Type.LONG));
            case "timestamp[us,UTC]" -> LogicalTypes.timestampMicros().addToSchema(Schema.create(Schema.Type.LONG));
            default -> throw new IllegalArgumentException("Avro has no " + type);
        };
    }

    private static @Nullable Object value(FieldType type, JsonNode value) {
        if (value.isNull()) {
            return null;
        }
        if (value.isArray()) {
            FieldType item = ((ListType) type).item();
            List<@Nullable Object> items = new ArrayList<>();
            value.forEach(each -> items.add(value(item, each)));
            return items;
        }
        if (value.isBoolean()) {
            return value.booleanValue();
        }
        String text = value.asText();
        if (type instanceof DecimalType decimal) {
            return ByteBuffer.wrap(decimal.unscaled(new BigDecimal(text)).toByteArray());
        }
        long time = TimeText.isTime(type) ? TimeText.parse(type, text) : 0;
        return switch (type.canonical()) {
            case "int32" -> Integer.valueOf(text);
            case "int64" -> Long.valueOf(text);
            case "float32" -> Float.valueOf(text);
            case "float64" -> Double.valueOf(text);
            case "utf8" -> text;
            case "date", "time[ms]" -> (int) time;
            default -> time;
        };
    }

    @Test
    void textOfAvroThatIsNotUtf8IsRefused() throws Exception {
        Schema schema = SchemaBuilder.record("R").fields().requiredString("x").endRecord();
        for (ValueRules.Case value : ValueRules.of("jsonl")) {
            if (!value.json().has("hex")) {
                continue;
            }
            byte[] text = Objects.requireNonNull(value.text());
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            out.write(2 * text.length);
            out.writeBytes(text);
            String refusal = "";
            try {
                decoded(value, format(RecordFormat.Kind.AVRO, schema), out.toByteArray());
            } catch (PoisonException e) {
                refusal = e.getMessage();
            }
            assertThat(refusal).as("%s", value).contains("UTF-8");
        }
    }
}
