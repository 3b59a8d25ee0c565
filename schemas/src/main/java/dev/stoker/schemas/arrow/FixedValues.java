package dev.stoker.schemas.arrow;

import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimestampType;
import org.jspecify.annotations.Nullable;

/**
 * The values of a column of a fixed width for consecutive rows. The arrays are shared with their owner.
 *
 * @param bytes little-endian values, one for each row; those of nulls are zeros
 * @param offset index of the first value's first byte
 * @param validity a bit for each row, the least significant one first, 0 for null; null if no row is null
 */
public record FixedValues(byte[] bytes, int offset, byte @Nullable [] validity) {
    /**
     * Returns whether each bit pattern of the width is a value of the type, so that values need no check.
     *
     * @param type of a column
     */
    public static boolean isAnyPatternValid(FieldType type) {
        return type instanceof TimestampType
                || type == ScalarType.DATE
                || (type instanceof ScalarType scalar && (scalar.isInteger() || scalar.isFloat()));
    }

    /** Returns whether one of these rows is null. */
    public boolean hasNull(int first, int count) {
        if (validity == null) {
            return false;
        }
        for (int row = first; row < first + count; row++) {
            if ((validity[row >>> 3] >>> (row & 7) & 1) == 0) {
                return true;
            }
        }
        return false;
    }
}
