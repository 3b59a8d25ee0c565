package dev.stoker.sql.types;

import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.arrow.types.TimeResolution;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.jspecify.annotations.Nullable;

/** Sets fields of samples to Flink's internal values. Stateless. */
@FunctionalInterface
interface SqlValueWriter {

    /**
     * Sets a field to a value that is not null.
     *
     * @param column the column of the row
     * @throws IllegalArgumentException if the field's type does not hold the value
     */
    void write(RowData row, int column, ChunkBuilder sample, int field);

    /** Returns the writer of a type. */
    static SqlValueWriter of(FieldType type) {
        if (type instanceof ScalarType scalar) {
            return of(scalar);
        }
        if (type instanceof ListType list && list.nullItems()) {
            return (row, column, sample, field) ->
                    sample.setItems(field, nullableItems(list.element(), row.getArray(column)));
        }
        if (type instanceof ListType list && list.items() != null) {
            return (row, column, sample, field) -> sample.setItems(field, items(list.item(), row.getArray(column)));
        }
        if (type instanceof ListType list) {
            return (row, column, sample, field) ->
                    sample.setBytes(field, ListBytes.of(list.element(), row.getArray(column)));
        }
        if (type instanceof TensorType tensor) {
            return (row, column, sample, field) -> {
                ArrayData elements = row.getArray(column);
                if (elements.size() != tensor.size()) {
                    throw new IllegalArgumentException(elements.size() + " elements are no value of type " + tensor
                            + "; expected " + tensor.size());
                }
                sample.setBytes(field, ListBytes.of(tensor.element(), elements));
            };
        }
        if (type instanceof DecimalType decimal) {
            return (row, column, sample, field) -> sample.setDecimal(
                    field,
                    row.getDecimal(column, decimal.precision(), decimal.scale()).toBigDecimal());
        }
        if (type instanceof TimestampType timestamp) {
            int digits = SqlTypes.digits(timestamp.unit());
            return (row, column, sample, field) ->
                    sample.setLong(field, units(row.getTimestamp(column, digits), timestamp.unit()));
        }
        if (type instanceof TimeType time) {
            return SqlTypes.isTime(time)
                    ? (row, column, sample, field) -> sample.setLong(field, units(row.getInt(column), time))
                    : (row, column, sample, field) -> sample.setLong(field, row.getLong(column));
        }
        throw new IllegalArgumentException("The type " + type + " does not exist in SQL");
    }

    private static SqlValueWriter of(ScalarType type) {
        return switch (type) {
            case BOOL -> (row, column, sample, field) -> sample.setLong(field, row.getBoolean(column) ? 1 : 0);
            case INT8 -> (row, column, sample, field) -> sample.setLong(field, row.getByte(column));
            case INT16, UINT8 -> (row, column, sample, field) -> sample.setLong(field, row.getShort(column));
            case INT32, UINT16, DATE -> (row, column, sample, field) -> sample.setLong(field, row.getInt(column));
            case INT64, UINT32 -> (row, column, sample, field) -> sample.setLong(field, row.getLong(column));
            case UINT64 ->
                (row, column, sample, field) ->
                        sample.setLong(field, bits(row.getDecimal(column, 20, 0).toBigDecimal()));
            case FLOAT16, BFLOAT16, FLOAT32 ->
                (row, column, sample, field) -> sample.setDouble(field, row.getFloat(column));
            case FLOAT64 -> (row, column, sample, field) -> sample.setDouble(field, row.getDouble(column));
            case UTF8 ->
                (row, column, sample, field) -> sample.setBytes(
                        field, ByteBuffer.wrap(row.getString(column).toBytes()));
            case CATEGORICAL -> (row, column, sample, field) -> sample.setClass(field, text(row.getString(column)));
            case BINARY ->
                (row, column, sample, field) -> sample.setBytes(field, ByteBuffer.wrap(row.getBinary(column)));
        };
    }

    private static List<ByteBuffer> items(FieldType type, ArrayData array) {
        List<ByteBuffer> items = new ArrayList<>();
        for (int i = 0; i < array.size(); i++) {
            ListBytes.requireValue(array, i);
            if (type instanceof ListType list) {
                items.add(ListBytes.of(list.element(), array.getArray(i)));
            } else {
                items.add(ByteBuffer.wrap(
                        type == ScalarType.UTF8 ? array.getString(i).toBytes() : array.getBinary(i)));
            }
        }
        return items;
    }

    private static List<@Nullable ByteBuffer> nullableItems(ScalarType type, ArrayData array) {
        List<@Nullable ByteBuffer> items = new ArrayList<>(array.size());
        for (int i = 0; i < array.size(); i++) {
            if (array.isNullAt(i)) {
                items.add(null);
            } else if (type.isNumber()) {
                items.add(ListBytes.of(type, array, i));
            } else {
                items.add(ByteBuffer.wrap(
                        type == ScalarType.UTF8 ? array.getString(i).toBytes() : array.getBinary(i)));
            }
        }
        return items;
    }

    /** Returns the 64 bits of an unsigned number. */
    static long bits(BigDecimal number) {
        if (number.signum() < 0 || number.toBigInteger().bitLength() > 64) {
            throw new IllegalArgumentException(number + " is not between 0 and 2^64-1, the range of uint64");
        }
        return number.longValue();
    }

    /** Returns text. Flink would replace bytes that are not UTF-8. */
    private static String text(StringData value) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(value.toBytes()))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("the name of the class is not UTF-8", e);
        }
    }

    private static long units(int millis, TimeType type) {
        long perUnit = 1_000 / type.unit().perSecond();
        if (millis % perUnit != 0) {
            throw new IllegalArgumentException(
                    "the time of " + millis + " ms is finer than the unit of " + type + "; cast it to TIME(0)");
        }
        return millis / perUnit;
    }

    private static long units(TimestampData time, TimeResolution unit) {
        long perMilli = unit.perSecond() / 1_000;
        if (unit == TimeResolution.SECONDS) {
            if (time.getMillisecond() % 1_000 != 0 || time.getNanoOfMillisecond() != 0) {
                throw new IllegalArgumentException(time + " has parts of a second, which timestamp[s] does not hold");
            }
            return time.getMillisecond() / 1_000;
        }
        long nanosPerUnit = 1_000_000 / perMilli;
        if (time.getNanoOfMillisecond() % nanosPerUnit != 0) {
            throw new IllegalArgumentException(time + " is finer than the unit of timestamp[" + unit.canonical() + "]");
        }
        long millis = time.getMillisecond();
        long rest = time.getNanoOfMillisecond() / nanosPerUnit;
        // The least numbers need the millisecond above, because the product alone would overflow.
        return millis < 0 && rest > 0
                ? Math.addExact(Math.multiplyExact(millis + 1, perMilli), rest - perMilli)
                : Math.addExact(Math.multiplyExact(millis, perMilli), rest);
    }
}
