package dev.stoker.client;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.protocol.parts.SampleAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A sample that was read from a feed. Fields are addressed by name; an unknown name, or a type that does not fit,
 * causes an IllegalArgumentException. Immutable and thread-safe. Samples of one answer share memory.
 */
public final class FeedSample {
    private final List<Field> fields;
    private final Map<String, List<String>> classes;
    private final SampleAddress place;
    private final List<ArrowColumn> columns;
    private final int row;

    FeedSample(
            List<Field> fields,
            Map<String, List<String>> classes,
            SampleAddress place,
            List<ArrowColumn> columns,
            int row) {
        this.fields = fields;
        this.classes = classes;
        this.place = place;
        this.columns = columns;
        this.row = row;
    }

    /** Returns the key. */
    public String key() {
        return columns.get(0).stringAt(row);
    }

    /** Returns where the sample is stored. */
    public SampleAddress place() {
        return place;
    }

    /** Returns the dataset's fields. */
    public List<Field> fields() {
        return fields;
    }

    /** Returns whether the sample has no value in a field. */
    public boolean isMissing(String field) {
        return column(field).isNull(row);
    }

    /**
     * Returns the bytes of a utf8 or binary field, or the elements of a list or tensor. A missing value has no bytes,
     * or the zeros of a tensor.
     */
    public ByteBuffer bytes(String field) {
        ArrowColumn column = column(field);
        if (!column.field().type().mayBePayload()) {
            throw new IllegalArgumentException(
                    "field " + field + " is " + column.field().type().canonical() + ", not bytes, a list or a tensor");
        }
        return column.bytesAt(row).asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Returns the text of a utf8 field, or the class name of a categorical one. */
    public String text(String field) {
        ArrowColumn column = column(field);
        if (column.field().type() == ScalarType.CATEGORICAL) {
            return Objects.requireNonNull(classes.get(field), "a categorical field has classes")
                    .get(column.intAt(row));
        }
        if (column.field().type() != ScalarType.UTF8) {
            throw new IllegalArgumentException(
                    "field " + field + " is " + column.field().type().canonical() + ", not text or a class");
        }
        return column.stringAt(row);
    }

    /** Returns the column that contains a field, for values of other types. The sample is in row {@link #row}. */
    public ArrowColumn column(String field) {
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).name().equals(field)) {
                return columns.get(f + 1);
            }
        }
        throw new IllegalArgumentException("there is no field " + field + "; there is "
                + String.join(", ", fields.stream().map(Field::name).toList()));
    }

    /** Returns the sample's row in {@link #column}. */
    public int row() {
        return row;
    }
}
