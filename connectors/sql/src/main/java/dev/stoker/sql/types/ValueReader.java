package dev.stoker.sql.types;

import dev.stoker.connectors.dataset.Sample;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeResolution;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.jspecify.annotations.Nullable;

/** Makes Flink's internal values of the values of samples. Stateless. */
@FunctionalInterface
interface ValueReader {

    /** Returns the value of a column that is not null. The value does not refer to the sample's memory. */
    Object read(Sample sample, int column);

    /** Returns the reader of a type. */
    static ValueReader of(FieldType type) {
        if (type instanceof ScalarType scalar) {
            return of(scalar);
        }
        ScalarType numbers = type.numbers();
        if (numbers != null) {
            return (sample, column) -> ListArrays.of(numbers, sample.bytesAt(column));
        }
        FieldType item = type.items();
        if (item != null) {
            return (sample, column) -> {
                @Nullable Object[] items = new @Nullable Object[sample.itemCount(column)];
                for (int i = 0; i < items.length; i++) {
                    items[i] = sample.isNullItem(column, i) ? null : item(item, sample.itemAt(column, i));
                }
                return new GenericArrayData(items);
            };
        }
        if (type instanceof DecimalType decimal) {
            return (sample, column) ->
                    DecimalData.fromBigDecimal(sample.decimalAt(column), decimal.precision(), decimal.scale());
        }
        if (type instanceof TimestampType timestamp) {
            return (sample, column) -> timestamp(sample.longAt(column), timestamp.unit());
        }
        if (type instanceof TimeType time) {
            return SqlTypes.isTime(time)
                    ? (sample, column) ->
                            (int) (sample.longAt(column) * (1_000 / time.unit().perSecond()))
                    : Sample::longAt;
        }
        throw new IllegalArgumentException("The type " + type + " does not exist in SQL");
    }

    private static ValueReader of(ScalarType type) {
        return switch (type) {
            case BOOL -> (sample, column) -> sample.longAt(column) != 0;
            case INT8 -> (sample, column) -> (byte) sample.longAt(column);
            case INT16, UINT8 -> (sample, column) -> (short) sample.longAt(column);
            case INT32, UINT16, DATE -> (sample, column) -> (int) sample.longAt(column);
            case INT64, UINT32 -> Sample::longAt;
            case UINT64 -> (sample, column) -> unsigned(sample.longAt(column));
            case FLOAT16, BFLOAT16, FLOAT32 -> (sample, column) -> (float) sample.doubleAt(column);
            case FLOAT64 -> Sample::doubleAt;
            case UTF8 -> (sample, column) -> StringData.fromBytes(copy(sample.bytesAt(column)));
            case CATEGORICAL -> (sample, column) -> StringData.fromString(sample.stringAt(column));
            case BINARY -> (sample, column) -> copy(sample.bytesAt(column));
        };
    }

    private static Object item(FieldType type, ByteBuffer bytes) {
        if (type instanceof ListType list) {
            return ListArrays.of(list.element(), bytes);
        }
        if (type instanceof ScalarType scalar && scalar.isNumber()) {
            return ListArrays.number(scalar, bytes);
        }
        return type == ScalarType.UTF8 ? StringData.fromBytes(copy(bytes)) : copy(bytes);
    }

    /** Returns an unsigned number of 64 bits. */
    static DecimalData unsigned(long bits) {
        return DecimalData.fromBigDecimal(new BigDecimal(Long.toUnsignedString(bits)), 20, 0);
    }

    /** Returns a point in time or a local date and time, which Flink counts alike. */
    private static TimestampData timestamp(long units, TimeResolution unit) {
        if (unit == TimeResolution.SECONDS) {
            return TimestampData.fromEpochMillis(Math.multiplyExact(units, 1_000));
        }
        long perMilli = unit.perSecond() / 1_000;
        long nanos = Math.floorMod(units, perMilli) * (1_000_000 / perMilli);
        return TimestampData.fromEpochMillis(Math.floorDiv(units, perMilli), (int) nanos);
    }

    /** Returns a copy of the remaining bytes. */
    static byte[] copy(ByteBuffer bytes) {
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(bytes.position(), copy);
        return copy;
    }
}
