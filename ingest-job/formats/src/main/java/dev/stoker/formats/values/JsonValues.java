package dev.stoker.formats.values;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.stoker.formats.write.Cell;
import dev.stoker.formats.write.UnwritableValueException;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.FixedBinaryType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.arrow.types.TimeText;
import dev.stoker.schemas.values.NumberBytes;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.util.function.Supplier;

/**
 * Writes values as JSON: the rules for exports and for commands.
 *
 * <table>
 * <caption>Values</caption>
 * <tr><th>type</th><th>JSON</th></tr>
 * <tr><td>bool</td><td>{@code true} or {@code false}</td></tr>
 * <tr><td>integers</td><td>number</td></tr>
 * <tr><td>floating-point numbers</td><td>number; {@link Special} if not finite</td></tr>
 * <tr><td>utf8, categorical</td><td>text</td></tr>
 * <tr><td>date, time, timestamp</td><td>text in ISO 8601; {@link Special} beyond the calendar</td></tr>
 * <tr><td>decimal</td><td>text</td></tr>
 * <tr><td>binary, fixed-size binary</td><td>{@link Special}</td></tr>
 * <tr><td>lists, tensors</td><td>array of these values, with one level for each dimension</td></tr>
 * </table>
 */
public final class JsonValues {

    /** Writes the values for which JSON has no form. */
    public interface Special {

        /** Writes NaN or an infinity. */
        void notFinite(double value, JsonGenerator out) throws IOException;

        /** Writes a date or time beyond the calendar, in the units of its type. */
        void beyondCalendar(FieldType type, long units, JsonGenerator out) throws IOException;

        /** Writes bytes. */
        void bytes(ByteBuffer bytes, JsonGenerator out) throws IOException;
    }

    private final Special special;

    /** @param special writes the values for which JSON has no form */
    public JsonValues(Special special) {
        this.special = special;
    }

    /**
     * Writes a value of an export, or null. The caller has refused binary values.
     *
     * @throws UnwritableValueException if it is NaN or infinite, or a time beyond the calendar
     */
    public static void write(Cell cell, JsonGenerator out) throws IOException {
        new JsonValues(new Refusal(cell))
                .write(
                        cell.source(),
                        cell.type(),
                        () -> cell.table().classAt(cell.rows(), cell.column(), cell.row()),
                        cell.row(),
                        out);
    }

    /**
     * Writes a value of a column, or null.
     *
     * @param column the column
     * @param type its type
     * @param className names the class of a categorical value
     * @param row the row
     * @param out receives one JSON value
     */
    public void write(ArrowColumn column, FieldType type, Supplier<String> className, int row, JsonGenerator out)
            throws IOException {
        FieldType item = type.items();
        if (column.isNull(row)) {
            out.writeNull();
        } else if (item != null) {
            items(column, item, row, out);
        } else if (type == ScalarType.CATEGORICAL) {
            out.writeString(className.get());
        } else if (type == ScalarType.BOOL) {
            out.writeBoolean(column.booleanAt(row));
        } else if (TimeText.isTime(type)) {
            moment(type, column.longAt(row), out);
        } else if (type instanceof DecimalType) {
            out.writeString(column.decimalAt(row).toPlainString());
        } else {
            write(type, column.bytesAt(row), out);
        }
    }

    /**
     * Writes a value that is its bytes: a number, text, bytes, a list of numbers or a tensor.
     *
     * @param type its type
     * @param value its bytes from index 0 to the limit
     * @param out receives one JSON value
     */
    public void write(FieldType type, ByteBuffer value, JsonGenerator out) throws IOException {
        ByteBuffer bytes = value.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        if (type instanceof ListType list) {
            numbers(list.element(), bytes, out);
        } else if (type instanceof TensorType tensor) {
            tensor(tensor, bytes, 0, 0, out);
        } else if (type == ScalarType.UTF8) {
            out.writeString(StandardCharsets.UTF_8.decode(bytes).toString());
        } else if (type == ScalarType.BINARY || type instanceof FixedBinaryType) {
            special.bytes(bytes, out);
        } else if (type instanceof ScalarType scalar && scalar.isNumber()) {
            number(scalar, bytes, 0, out);
        } else {
            throw new IllegalArgumentException("a value of " + type + " is not its bytes");
        }
    }

    private void items(ArrowColumn column, FieldType item, int row, JsonGenerator out) throws IOException {
        out.writeStartArray();
        for (int i = 0; i < column.itemCount(row); i++) {
            if (column.isNullItem(row, i)) {
                out.writeNull();
            } else {
                write(item, column.itemAt(row, i), out);
            }
        }
        out.writeEndArray();
    }

    private void numbers(ScalarType element, ByteBuffer bytes, JsonGenerator out) throws IOException {
        out.writeStartArray();
        for (int at = 0; at < bytes.limit(); at += element.width()) {
            number(element, bytes, at, out);
        }
        out.writeEndArray();
    }

    /** Writes the part of a tensor that begins at a position in bytes: one array for each dimension. */
    private void tensor(TensorType type, ByteBuffer bytes, int dimension, int from, JsonGenerator out)
            throws IOException {
        int stride = type.element().width();
        for (int d = dimension + 1; d < type.shape().size(); d++) {
            stride *= type.shape().get(d);
        }
        out.writeStartArray();
        for (int i = 0; i < type.shape().get(dimension); i++) {
            if (dimension + 1 == type.shape().size()) {
                number(type.element(), bytes, from + i * stride, out);
            } else {
                tensor(type, bytes, dimension + 1, from + i * stride, out);
            }
        }
        out.writeEndArray();
    }

    private void number(ScalarType type, ByteBuffer bytes, int at, JsonGenerator out) throws IOException {
        if (!type.isFloat()) {
            long value = NumberBytes.integerAt(type, bytes, at);
            if (type == ScalarType.UINT64 && value < 0) {
                out.writeNumber(new BigInteger(Long.toUnsignedString(value)));
            } else {
                out.writeNumber(value);
            }
            return;
        }
        double value = NumberBytes.floatAt(type, bytes, at);
        if (!Double.isFinite(value)) {
            special.notFinite(value, out);
        } else if (type == ScalarType.FLOAT64) {
            out.writeNumber(value);
        } else {
            out.writeNumber((float) value);
        }
    }

    private void moment(FieldType type, long units, JsonGenerator out) throws IOException {
        String text;
        try {
            text = ValueText.moment(type, units);
        } catch (DateTimeException | ArithmeticException e) {
            special.beyondCalendar(type, units, out);
            return;
        }
        out.writeString(text);
    }

    /** Refuses what readers of an exported file could not read back. */
    private record Refusal(Cell cell) implements Special {
        @Override
        public void notFinite(double value, JsonGenerator out) throws UnwritableValueException {
            throw cell.refused("JSON cannot hold " + value, "export to parquet");
        }

        @Override
        public void beyondCalendar(FieldType type, long units, JsonGenerator out) throws UnwritableValueException {
            throw ValueText.beyondCalendar(cell, units);
        }

        @Override
        public void bytes(ByteBuffer bytes, JsonGenerator out) throws UnwritableValueException {
            throw cell.refused("JSON cannot hold bytes", "export to parquet");
        }
    }
}
