package dev.stoker.formats.parquet.write;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import dev.stoker.schemas.values.NumberBytes;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.apache.parquet.column.ColumnWriter;
import org.apache.parquet.io.api.Binary;

/** Gives single values of one type to an encoder. Stateless. */
final class ValueWriter {
    private final FieldType type;
    private final ScalarType element;
    private final Binary[] classes;

    private ValueWriter(FieldType type, ScalarType element, Binary[] classes) {
        this.type = type;
        this.element = element;
        this.classes = classes;
    }

    static ValueWriter of(FieldType type, List<String> classes) {
        boolean isFlat = type instanceof ScalarType
                || type instanceof DecimalType
                || type instanceof TimestampType
                || type instanceof TimeType;
        ScalarType element =
                !isFlat ? ColumnOutput.element(type) : type instanceof ScalarType scalar ? scalar : ScalarType.INT64;
        return new ValueWriter(
                type, element, classes.stream().map(Binary::fromString).toArray(Binary[]::new));
    }

    /** Bytes of an element of a list. */
    int width() {
        return element.width();
    }

    /** Writes the value of a row that is neither null nor a list. */
    void row(ArrowColumn source, int row, int repetition, int definition, ColumnWriter out) {
        if (type instanceof DecimalType decimal) {
            decimal(decimal, source.decimalAt(row).unscaledValue(), definition, out);
        } else if (type instanceof TimestampType) {
            out.write(source.longAt(row), repetition, definition);
        } else if (type instanceof TimeType time) {
            if (time.width() == 4) {
                out.write((int) source.longAt(row), repetition, definition);
            } else {
                out.write(source.longAt(row), repetition, definition);
            }
        } else {
            scalar(source, row, repetition, definition, out);
        }
    }

    private void scalar(ArrowColumn source, int row, int repetition, int definition, ColumnWriter out) {
        switch (element) {
            case BOOL -> out.write(source.booleanAt(row), repetition, definition);
            case INT64, UINT64 -> out.write(source.longAt(row), repetition, definition);
            case BFLOAT16, FLOAT32 -> out.write((float) source.doubleAt(row), repetition, definition);
            case FLOAT64 -> out.write(source.doubleAt(row), repetition, definition);
            case CATEGORICAL -> out.write(classes[source.intAt(row)], repetition, definition);
            case UTF8, BINARY, FLOAT16 -> bytes(source.bytesAt(row), repetition, definition, out);
            default -> out.write((int) source.longAt(row), repetition, definition);
        }
    }

    /** Writes a value that is stored as bytes. */
    void bytes(ByteBuffer bytes, int repetition, int definition, ColumnWriter out) {
        out.write(Binary.fromReusedByteBuffer(bytes), repetition, definition);
    }

    /** Writes an element of a list of numbers. */
    void element(ByteBuffer from, int at, int repetition, int definition, ColumnWriter out) {
        switch (element) {
            case INT8, UINT8, INT16, UINT16 ->
                out.write((int) NumberBytes.integerAt(element, from, at), repetition, definition);
            case INT32, UINT32 -> out.write(from.getInt(at), repetition, definition);
            case INT64, UINT64 -> out.write(from.getLong(at), repetition, definition);
            case FLOAT16 -> bytes(from.slice(at, 2), repetition, definition, out);
            case BFLOAT16 -> out.write((float) NumberBytes.floatAt(element, from, at), repetition, definition);
            case FLOAT32 -> out.write(from.getFloat(at), repetition, definition);
            case FLOAT64 -> out.write(from.getDouble(at), repetition, definition);
            default -> throw new IllegalStateException("no lists of " + element);
        }
    }

    private static void decimal(DecimalType type, BigInteger unscaled, int definition, ColumnWriter out) {
        if (type.precision() <= 9) {
            out.write(unscaled.intValueExact(), 0, definition);
        } else if (type.precision() <= 18) {
            out.write(unscaled.longValueExact(), 0, definition);
        } else {
            byte[] shortest = unscaled.toByteArray();
            byte[] bytes = new byte[DecimalType.WIDTH];
            Arrays.fill(bytes, 0, bytes.length - shortest.length, (byte) (unscaled.signum() < 0 ? -1 : 0));
            System.arraycopy(shortest, 0, bytes, bytes.length - shortest.length, shortest.length);
            out.write(Binary.fromConstantByteArray(bytes), 0, definition);
        }
    }
}
