package dev.stoker.schemas.kafka;

import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.avro.AvroInput;
import dev.stoker.schemas.avro.AvroOutput;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.values.NumberBytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The numbers of lists in a sample: an array of Avro's numbers outside, the little-endian elements of a column inside.
 */
final class SampleNumbers {
    private SampleNumbers() {}

    /** Writes elements as an array of one block. */
    static void write(AvroOutput out, ScalarType type, ByteBuffer elements) {
        int count = elements.remaining() / type.width();
        if (count > 0) {
            out.writeLong(count);
        }
        for (int i = 0; i < count; i++) {
            writeOne(out, type, elements, elements.position() + i * type.width());
        }
        out.writeLong(0);
    }

    /** Writes the element at a position. */
    static void writeOne(AvroOutput out, ScalarType type, ByteBuffer elements, int at) {
        ByteBuffer bytes = elements.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        switch (type) {
            case FLOAT16 -> writeFloat(out, ofFloat16(bytes.getShort(at)));
            case BFLOAT16 -> writeFloat(out, bytes.getShort(at) << 16);
            case FLOAT32 -> writeFloat(out, bytes.getInt(at));
            case FLOAT64 -> {
                byte[] value = new byte[Double.BYTES];
                bytes.get(at, value);
                out.writeFixed(value);
            }
            default -> out.writeLong(NumberBytes.integerAt(type, bytes, at));
        }
    }

    static void writeFloat(AvroOutput out, int bits) {
        out.writeFixed(new byte[] {(byte) bits, (byte) (bits >>> 8), (byte) (bits >>> 16), (byte) (bits >>> 24)});
    }

    /** Reads an array of one block. The elements may be a part of the sample's memory. */
    static ByteBuffer read(AvroInput in, ScalarType type) throws CorruptDataException {
        boolean isRead = type == ScalarType.FLOAT32 || type == ScalarType.FLOAT64;
        int count = in.readItems(type == ScalarType.FLOAT64 ? Double.BYTES : type.isFloat() ? Float.BYTES : 1);
        ByteBuffer elements;
        if (isRead) {
            elements = in.viewFixed(count * type.width());
        } else {
            elements = ByteBuffer.allocate(count * type.width()).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < count; i++) {
                readOne(in, type, elements);
            }
            elements.flip();
        }
        in.endItems(count);
        return elements;
    }

    /** Reads a number as its element. */
    static ByteBuffer readOne(AvroInput in, ScalarType type) throws CorruptDataException {
        ByteBuffer element = ByteBuffer.allocate(type.width()).order(ByteOrder.LITTLE_ENDIAN);
        readOne(in, type, element);
        return element.flip();
    }

    private static void readOne(AvroInput in, ScalarType type, ByteBuffer elements) throws CorruptDataException {
        switch (type) {
            case FLOAT16 -> elements.putShort((short) toFloat16(in));
            case BFLOAT16 -> elements.putShort((short) toBfloat16(in));
            case FLOAT32 -> elements.put(in.viewFixed(Float.BYTES));
            case FLOAT64 -> elements.put(in.viewFixed(Double.BYTES));
            default -> {
                long value = in.readLong();
                if (!NumberBytes.fits(type, value)) {
                    throw in.corrupt("a number of a list", type, value);
                }
                NumberBytes.put(type, value, elements);
            }
        }
    }

    /** Returns the bits of the binary32 with the same value. A NaN keeps its bits. */
    static int ofFloat16(short half) {
        int sign = (half & 0x8000) << 16;
        int exponent = (half >>> 10) & 0x1F;
        int mantissa = half & 0x3FF;
        if (exponent == 0x1F) {
            return sign | 0x7F800000 | mantissa << 13;
        }
        if (exponent == 0) {
            return sign | Float.floatToRawIntBits(mantissa * 0x1p-24f);
        }
        return sign | (exponent + 112) << 23 | mantissa << 13;
    }

    /** Reads the bits of the binary16 from which a binary32 was made. */
    static int toFloat16(AvroInput in) throws CorruptDataException {
        int bits = in.viewFixed(Float.BYTES).getInt();
        int sign = bits >>> 16 & 0x8000;
        int exponent = bits >>> 23 & 0xFF;
        int mantissa = bits & 0x7FFFFF;
        int half;
        if (exponent == 0xFF) {
            half = sign | 0x7C00 | mantissa >>> 13;
        } else if (exponent > 112) {
            half = sign | (exponent - 112) << 10 | mantissa >>> 13;
        } else {
            half = sign | (exponent < 103 ? 0 : (mantissa | 0x800000) >>> (126 - exponent));
        }
        if (ofFloat16((short) half) != bits) {
            throw in.corrupt("a number", "a float16", Float.intBitsToFloat(bits));
        }
        return half;
    }

    static int toBfloat16(AvroInput in) throws CorruptDataException {
        int bits = in.viewFixed(Float.BYTES).getInt();
        if ((bits & 0xFFFF) != 0) {
            throw in.corrupt("a number", "a bfloat16", Float.intBitsToFloat(bits));
        }
        return bits >>> 16;
    }
}
