package dev.stoker.schemas.values;

import dev.stoker.schemas.arrow.types.HalfFloats;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.nio.ByteBuffer;

/**
 * Reads, writes, checks and prints numbers by their type. In bytes, numbers are the elements of columns, lists and
 * tensors; the order of the buffers that are given must be little-endian. Dates and categorical ids are read as int32.
 */
public final class NumberBytes {
    private NumberBytes() {}

    /** Returns the integer at a position. Unsigned ones are not sign-extended; a uint64 is returned as its bits. */
    public static long integerAt(ScalarType type, ByteBuffer bytes, int at) {
        return switch (type) {
            case INT8 -> bytes.get(at);
            case UINT8 -> bytes.get(at) & 0xFF;
            case INT16 -> bytes.getShort(at);
            case UINT16 -> bytes.getShort(at) & 0xFFFF;
            case INT32, CATEGORICAL, DATE -> bytes.getInt(at);
            case UINT32 -> bytes.getInt(at) & 0xFFFFFFFFL;
            default -> bytes.getLong(at);
        };
    }

    /** Returns the floating-point number at a position. */
    public static double floatAt(ScalarType type, ByteBuffer bytes, int at) {
        return switch (type) {
            case FLOAT16 -> HalfFloats.fromFloat16(bytes.getShort(at));
            case BFLOAT16 -> HalfFloats.fromBfloat16(bytes.getShort(at));
            case FLOAT32 -> bytes.getFloat(at);
            default -> bytes.getDouble(at);
        };
    }

    /** Appends the lower bits of a value, as many as a number of the type has. */
    public static void put(ScalarType type, long bits, ByteBuffer out) {
        switch (type.width()) {
            case 1 -> out.put((byte) bits);
            case 2 -> out.putShort((short) bits);
            case 4 -> out.putInt((int) bits);
            default -> out.putLong(bits);
        }
    }

    /** Returns the bits of the nearest value of a floating-point type, ties to even. */
    public static long bits(ScalarType type, double value) {
        return switch (type) {
            case FLOAT16 -> HalfFloats.float16(value);
            case BFLOAT16 -> HalfFloats.bfloat16(value);
            case FLOAT32 -> Float.floatToRawIntBits((float) value);
            default -> Double.doubleToRawLongBits(value);
        };
    }

    /** Returns whether an integer type holds a value. A uint64 is given as its bits, and all are values. */
    public static boolean fits(ScalarType type, long value) {
        return switch (type) {
            case INT8 -> value == (byte) value;
            case INT16 -> value == (short) value;
            case INT32, CATEGORICAL, DATE -> value == (int) value;
            case UINT8 -> value >>> 8 == 0;
            case UINT16 -> value >>> 16 == 0;
            case UINT32 -> value >>> 32 == 0;
            default -> true;
        };
    }

    /** Returns the least value of an integer type. */
    public static long least(ScalarType type) {
        return switch (type) {
            case UINT8, UINT16, UINT32, UINT64 -> 0;
            default -> -1L << (8 * type.width() - 1);
        };
    }

    /** Returns the greatest value of an integer type; of a uint64, the bits. */
    public static long greatest(ScalarType type) {
        return least(type) == 0 ? -1L >>> (64 - 8 * type.width()) : ~least(type);
    }

    /** Returns the text of an integer. */
    public static String text(ScalarType type, long value) {
        return type == ScalarType.UINT64 ? Long.toUnsignedString(value) : Long.toString(value);
    }

    /** Returns the text of a floating-point number: the shortest that only this value of the type has. */
    public static String text(ScalarType type, double value) {
        return type == ScalarType.FLOAT64 ? Double.toString(value) : Float.toString((float) value);
    }

    /** Returns the text of the number at a position. */
    public static String textAt(ScalarType type, ByteBuffer bytes, int at) {
        return type.isFloat() ? text(type, floatAt(type, bytes, at)) : text(type, integerAt(type, bytes, at));
    }
}
