package dev.stoker.sql.types;

import dev.stoker.schemas.arrow.types.HalfFloats;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.flink.table.data.GenericArrayData;

/** Makes Flink's arrays of the little-endian elements of lists and tensors. Stateless. */
final class ListArrays {
    private ListArrays() {}

    static GenericArrayData of(ScalarType element, ByteBuffer bytes) {
        ByteBuffer values = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
        int count = values.limit() / element.width();
        return switch (element) {
            case INT8 -> new GenericArrayData(ValueReader.copy(values));
            case INT16, UINT8 -> shorts(element, values, count);
            case INT32, UINT16 -> ints(element, values, count);
            case INT64, UINT32 -> longs(element, values, count);
            case FLOAT16, BFLOAT16, FLOAT32 -> floats(element, values, count);
            case FLOAT64 -> {
                double[] doubles = new double[count];
                values.asDoubleBuffer().get(doubles);
                yield new GenericArrayData(doubles);
            }
            case UINT64 -> {
                Object[] decimals = new Object[count];
                for (int i = 0; i < count; i++) {
                    decimals[i] = ValueReader.unsigned(values.getLong(8 * i));
                }
                yield new GenericArrayData(decimals);
            }
            default -> throw new IllegalArgumentException("No lists of " + element);
        };
    }

    /** Returns the one number of these bytes. */
    static Object number(ScalarType type, ByteBuffer bytes) {
        GenericArrayData one = of(type, bytes);
        return switch (type) {
            case INT8 -> one.getByte(0);
            case INT16, UINT8 -> one.getShort(0);
            case INT32, UINT16 -> one.getInt(0);
            case INT64, UINT32 -> one.getLong(0);
            case UINT64 -> one.getDecimal(0, 20, 0);
            case FLOAT64 -> one.getDouble(0);
            default -> one.getFloat(0);
        };
    }

    private static GenericArrayData shorts(ScalarType element, ByteBuffer values, int count) {
        short[] shorts = new short[count];
        for (int i = 0; i < count; i++) {
            shorts[i] = element == ScalarType.UINT8 ? (short) (values.get(i) & 0xFF) : values.getShort(2 * i);
        }
        return new GenericArrayData(shorts);
    }

    private static GenericArrayData ints(ScalarType element, ByteBuffer values, int count) {
        int[] ints = new int[count];
        for (int i = 0; i < count; i++) {
            ints[i] = element == ScalarType.UINT16 ? values.getShort(2 * i) & 0xFFFF : values.getInt(4 * i);
        }
        return new GenericArrayData(ints);
    }

    private static GenericArrayData longs(ScalarType element, ByteBuffer values, int count) {
        long[] longs = new long[count];
        for (int i = 0; i < count; i++) {
            longs[i] = element == ScalarType.UINT32 ? values.getInt(4 * i) & 0xFFFFFFFFL : values.getLong(8 * i);
        }
        return new GenericArrayData(longs);
    }

    private static GenericArrayData floats(ScalarType element, ByteBuffer values, int count) {
        float[] floats = new float[count];
        for (int i = 0; i < count; i++) {
            floats[i] = switch (element) {
                case FLOAT16 -> (float) HalfFloats.fromFloat16(values.getShort(2 * i));
                case BFLOAT16 -> (float) HalfFloats.fromBfloat16(values.getShort(2 * i));
                default -> values.getFloat(4 * i);
            };
        }
        return new GenericArrayData(floats);
    }
}
