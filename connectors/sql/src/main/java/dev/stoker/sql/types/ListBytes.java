package dev.stoker.sql.types;

import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.values.NumberBytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.flink.table.data.ArrayData;

/** Makes the little-endian elements of lists and tensors of Flink's arrays. Stateless. */
final class ListBytes {

    private ListBytes() {}

    /**
     * Returns the elements.
     *
     * @throws IllegalArgumentException if one is null or out of range
     */
    static ByteBuffer of(ScalarType element, ArrayData array) {
        ByteBuffer bytes = ByteBuffer.allocate(Math.multiplyExact(element.width(), array.size()))
                .order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < array.size(); i++) {
            requireValue(array, i);
            put(element, array, i, bytes);
        }
        return bytes.flip();
    }

    /**
     * Returns one element, which is not null.
     *
     * @throws IllegalArgumentException if it is out of range
     */
    static ByteBuffer of(ScalarType element, ArrayData array, int index) {
        ByteBuffer bytes = ByteBuffer.allocate(element.width()).order(ByteOrder.LITTLE_ENDIAN);
        put(element, array, index, bytes);
        return bytes.flip();
    }

    static void requireValue(ArrayData array, int index) {
        if (array.isNullAt(index)) {
            throw new IllegalArgumentException("item " + index + " of a list is null; only the items of"
                    + " fields with a type such as int32?[] can be null");
        }
    }

    private static void put(ScalarType element, ArrayData array, int i, ByteBuffer bytes) {
        switch (element) {
            case INT8 -> bytes.put(array.getByte(i));
            case INT16 -> bytes.putShort(array.getShort(i));
            case INT32 -> bytes.putInt(array.getInt(i));
            case INT64 -> bytes.putLong(array.getLong(i));
            case UINT8 -> bytes.put((byte) ranged(array.getShort(i), element));
            case UINT16 -> bytes.putShort((short) ranged(array.getInt(i), element));
            case UINT32 -> bytes.putInt((int) ranged(array.getLong(i), element));
            case UINT64 ->
                bytes.putLong(SqlValueWriter.bits(array.getDecimal(i, 20, 0).toBigDecimal()));
            case FLOAT16, BFLOAT16 ->
                NumberBytes.put(element, NumberBytes.bits(element, finite(array.getFloat(i), element)), bytes);
            case FLOAT32 -> bytes.putFloat(array.getFloat(i));
            case FLOAT64 -> bytes.putDouble(array.getDouble(i));
            default -> throw new IllegalArgumentException("No lists of " + element);
        }
    }

    private static float finite(float value, ScalarType type) {
        if (type.isExceededBy(value)) {
            throw new IllegalArgumentException(value + " is too large for a " + type);
        }
        return value;
    }

    private static long ranged(long value, ScalarType type) {
        if (!NumberBytes.fits(type, value)) {
            throw new IllegalArgumentException(
                    value + " is not between 0 and " + NumberBytes.greatest(type) + ", the range of " + type);
        }
        return value;
    }
}
