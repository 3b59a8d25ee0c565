package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.FieldType.Layout;

/** Computes the bytes that one value adds to the buffers of a batch, without padding. */
public final class RowSize {
    private RowSize() {}

    /**
     * Returns the bytes of one value: its own, 4 for an offset, 1 for the bit of a nullable field, 1 for a bool.
     *
     * @param valueBytes bytes of the value itself, with 4 bytes for each item of a nested list; ignored for types of a
     *     fixed width
     */
    public static long of(FieldType type, boolean nullable, long valueBytes) {
        long bytes = nullable ? 1 : 0;
        if (type.layout() == Layout.BITS) {
            return bytes + 1;
        }
        return bytes + (type.hasOffsets() ? 4 + valueBytes : type.width());
    }
}
