package dev.stoker.formats.parquet.column;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.NumberWriter;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.parquet.page.ValueBatch;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Converts the values of one Parquet type. May have scratch space, so it belongs to one column of one reader. */
public abstract class Scalar {
    private ByteBuffer slice = ByteBuffer.allocate(0);

    /** Gives a value to a sink. */
    public abstract void give(ValueBatch batch, int index, ValueSink sink) throws BadValueException;

    /** Adds a value to a list of numbers. */
    public void append(ValueBatch batch, int index, NumberWriter list) throws BadValueException {
        throw new IllegalStateException("lists of this type do not exist");
    }

    /** Returns the bytes of a value. The buffer is valid until the next call. */
    public ByteBuffer bytes(ValueBatch batch, int index) {
        if (slice.array() != batch.bytes) {
            slice = ByteBuffer.wrap(batch.bytes);
        }
        return slice.clear().position(batch.offsets[index]).limit(batch.offsets[index] + batch.lengths[index]);
    }

    /**
     * A type of values.
     *
     * @param type field type of one value
     * @param element type of the elements if the column is a list; null if lists of it do not exist
     */
    public record Mapping(FieldType type, @Nullable ScalarType element, Maker maker) {}

    /** Makes a converter. */
    public interface Maker {
        Scalar make();
    }
}
