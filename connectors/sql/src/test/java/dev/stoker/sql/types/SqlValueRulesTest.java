package dev.stoker.sql.types;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.arrow.types.TimeText;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.testing.ValueRules;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A value of an INSERT has the meaning that it has in a file. */
class SqlValueRulesTest {
    private static final long MICROS = 1_000_000;

    @Test
    void aValueOfSqlIsTheSame() {
        List<ValueRules.Case> cases = ValueRules.of("sql").stream()
                .filter(value -> isSql(value.type(), value.given().orElseThrow()))
                .toList();
        assertThat(cases).hasSizeGreaterThan(80);
        assertThat(ValueRules.disagreements("sql", cases, SqlValueRulesTest::sent))
                .isEmpty();
    }

    private static @Nullable Object sent(ValueRules.Case value) throws Exception {
        GenericRowData row = GenericRowData.of(internal(value.given().orElseThrow(), value.value()));
        return ValueRules.stored(value, sample -> {
            if (!row.isNullAt(0)) {
                SqlValueWriter.of(value.type()).write(row, 0, sample, 0);
            }
        });
    }

    /** Returns whether values of a type are the values of a field's column in SQL. */
    private static boolean isSql(FieldType type, FieldType given) {
        if (given.equals(type)) {
            return true;
        }
        if (type instanceof TimestampType own && given instanceof TimestampType other) {
            return own.zone().isPresent() == other.zone().isPresent();
        }
        if (type instanceof TimeType) {
            return given.canonical().equals("time[ms]");
        }
        ScalarType numbers = type.numbers();
        if (numbers != null && given.numbers() != null) {
            return given instanceof ListType list && isSql(numbers, list.element());
        }
        if (type instanceof TensorType) {
            return false;
        }
        if (type instanceof ListType list && list.items() != null) {
            String items = type.canonical().replace("?", "");
            return given.canonical().replace("?", "").equals(items);
        }
        return switch (type.canonical()) {
            case "uint8" -> given == ScalarType.INT16;
            case "uint16" -> given == ScalarType.INT32;
            case "uint32" -> given == ScalarType.INT64;
            case "uint64" -> given.equals(new DecimalType(20, 0));
            case "float16", "bfloat16" -> given == ScalarType.FLOAT32;
            case "categorical" -> given == ScalarType.UTF8;
            default -> false;
        };
    }

    /** Returns a value as Flink has it. */
    private static @Nullable Object internal(FieldType given, JsonNode value) {
        if (value.isNull()) {
            return null;
        }
        if (value.isArray()) {
            FieldType item = given instanceof TensorType tensor ? tensor.element() : ((ListType) given).item();
            List<@Nullable Object> items = new ArrayList<>();
            value.forEach(each -> items.add(internal(item, each)));
            return new GenericArrayData(items.toArray());
        }
        String text = value.asText();
        if (given instanceof TimestampType timestamp) {
            String zone = timestamp.zone().isPresent() ? "[ns,UTC]" : "[ns]";
            return text.startsWith("2262-04-11T23:47:17") || text.equals("1677-09-21T00:12:43")
                    ? micros(TimeText.parse(FieldType.parse("timestamp[us]"), text))
                    : nanos(TimeText.parse(FieldType.parse("timestamp" + zone), text));
        }
        if (given instanceof TimeType) {
            return (int) TimeText.parse(FieldType.parse("time[ms]"), text);
        }
        if (given instanceof DecimalType decimal) {
            return DecimalData.fromBigDecimal(new BigDecimal(text), decimal.precision(), decimal.scale());
        }
        return switch ((ScalarType) given) {
            case BOOL -> value.booleanValue();
            case INT8 -> Byte.valueOf(text);
            case INT16 -> Short.valueOf(text);
            case INT32 -> Integer.valueOf(text);
            case INT64 -> Long.valueOf(text);
            case FLOAT32 -> Float.valueOf(text);
            case FLOAT64 -> Double.valueOf(text);
            case UTF8 -> StringData.fromString(text);
            case DATE -> (int) TimeText.parse(given, text);
            // In SQL, unsigned numbers have a wider type.
            case UINT8 -> Short.valueOf(text);
            case UINT16 -> Integer.valueOf(text);
            case UINT32 -> Long.valueOf(text);
            case UINT64 -> DecimalData.fromBigDecimal(new BigDecimal(text), 20, 0);
            default -> throw new IllegalArgumentException(given.toString());
        };
    }

    private static TimestampData micros(long value) {
        return TimestampData.fromEpochMillis(Math.floorDiv(value, 1_000L), (int) Math.floorMod(value, 1_000L) * 1_000);
    }

    private static TimestampData nanos(long value) {
        return TimestampData.fromEpochMillis(Math.floorDiv(value, MICROS), (int) Math.floorMod(value, MICROS));
    }

    @ParameterizedTest
    @ValueSource(strings = {"utf8", "categorical", "utf8[]", "utf8?[]"})
    void textThatIsNotUtf8IsRefused(String type) {
        StringData text = StringData.fromBytes(new byte[] {'a', (byte) 0xff});
        Object value = type.endsWith("]") ? new GenericArrayData(new Object[] {text}) : text;
        ChunkBuilder sample = new ChunkBuilder(List.of(Field.nullable("x", FieldType.parse(type))), 4096);
        sample.beginRow("k");
        assertThatThrownBy(() -> SqlValueWriter.of(FieldType.parse(type)).write(GenericRowData.of(value), 0, sample, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("UTF-8");
    }
}
