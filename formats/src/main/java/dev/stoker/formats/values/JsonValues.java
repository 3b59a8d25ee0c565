package dev.stoker.formats.values;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.stoker.formats.Cell;
import dev.stoker.schemas.arrow.FieldType;
import dev.stoker.schemas.arrow.ListType;
import dev.stoker.schemas.arrow.NestedListType;
import dev.stoker.schemas.arrow.NullableListType;
import dev.stoker.schemas.arrow.ScalarType;
import dev.stoker.schemas.arrow.TensorType;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Writes values as JSON. Binary values have no form in JSON; the caller has refused them. */
public final class JsonValues {
    private JsonValues() {}

    /**
     * Writes a value or null.
     *
     * @throws dev.stoker.formats.UnwritableValueException if it is NaN or infinite, or a time beyond the calendar
     */
    public static void write(Cell cell, JsonGenerator out) throws IOException {
        FieldType type = cell.type();
        int row = cell.row();
        if (cell.source().isNull(row)) {
            out.writeNull();
        } else if (type instanceof ListType list) {
            numbers(cell, list.element(), cell.source().bytesAt(row), out);
        } else if (type instanceof TensorType tensor) {
            tensor(cell, tensor, 0, 0, out);
        } else if (type instanceof NestedListType nested) {
            nested(cell, nested, out);
        } else if (type instanceof NullableListType list) {
            nullable(cell, list.item(), out);
        } else if (type instanceof ScalarType scalar && scalar.isFloat()) {
            number(cell, scalar, cell.source().doubleAt(row), out);
        } else if (type instanceof ScalarType scalar && scalar.isInteger()) {
            integer(scalar, cell.source().longAt(row), out);
        } else if (type == ScalarType.BOOL) {
            out.writeBoolean(cell.source().booleanAt(row));
        } else {
            out.writeString(ValueText.of(cell));
        }
    }

    private static void numbers(Cell cell, ScalarType element, ByteBuffer bytes, JsonGenerator out) throws IOException {
        out.writeStartArray();
        for (int at = 0; at < bytes.limit(); at += element.width()) {
            element(cell, element, bytes, at, out);
        }
        out.writeEndArray();
    }

    private static void element(Cell cell, ScalarType element, ByteBuffer bytes, int at, JsonGenerator out)
            throws IOException {
        if (element.isFloat()) {
            number(cell, element, ValueText.floatAt(element, bytes, at), out);
        } else {
            integer(element, ValueText.integerAt(element, bytes, at), out);
        }
    }

    /** Writes the part of a tensor that begins at a position in bytes: one array for each dimension. */
    private static void tensor(Cell cell, TensorType type, int dimension, int from, JsonGenerator out)
            throws IOException {
        int stride = type.element().width();
        for (int d = dimension + 1; d < type.shape().size(); d++) {
            stride *= type.shape().get(d);
        }
        out.writeStartArray();
        for (int i = 0; i < type.shape().get(dimension); i++) {
            if (dimension + 1 == type.shape().size()) {
                element(cell, type.element(), cell.source().bytesAt(cell.row()), from + i * stride, out);
            } else {
                tensor(cell, type, dimension + 1, from + i * stride, out);
            }
        }
        out.writeEndArray();
    }

    private static void nested(Cell cell, NestedListType type, JsonGenerator out) throws IOException {
        out.writeStartArray();
        for (int item = 0; item < cell.source().itemCount(cell.row()); item++) {
            ByteBuffer bytes = cell.source().itemAt(cell.row(), item);
            if (type.item() instanceof ListType list) {
                numbers(cell, list.element(), bytes, out);
            } else {
                out.writeString(StandardCharsets.UTF_8.decode(bytes).toString());
            }
        }
        out.writeEndArray();
    }

    private static void nullable(Cell cell, ScalarType type, JsonGenerator out) throws IOException {
        out.writeStartArray();
        for (int item = 0; item < cell.source().itemCount(cell.row()); item++) {
            ByteBuffer bytes = cell.source().itemAt(cell.row(), item);
            if (cell.source().isNullItem(cell.row(), item)) {
                out.writeNull();
            } else if (type.isNumber()) {
                element(cell, type, bytes, 0, out);
            } else {
                out.writeString(StandardCharsets.UTF_8.decode(bytes).toString());
            }
        }
        out.writeEndArray();
    }

    private static void integer(ScalarType type, long value, JsonGenerator out) throws IOException {
        if (type == ScalarType.UINT64 && value < 0) {
            out.writeNumber(new BigInteger(Long.toUnsignedString(value)));
        } else {
            out.writeNumber(value);
        }
    }

    private static void number(Cell cell, ScalarType type, double value, JsonGenerator out) throws IOException {
        if (!Double.isFinite(value)) {
            throw cell.refused(
                    "JSON cannot hold " + value + "; leave out the column with --columns, or export to parquet");
        }
        if (type == ScalarType.FLOAT64) {
            out.writeNumber(value);
        } else {
            out.writeNumber((float) value);
        }
    }
}
