package dev.stoker.sql.types;

import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.values.NumberBytes;
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
            shorts[i] = (short) NumberBytes.integerAt(element, values, i * element.width());
        }
        return new GenericArrayData(shorts);
    }

    private static GenericArrayData ints(ScalarType element, ByteBuffer values, int count) {
        int[] ints = new int[count];
        for (int i = 0; i < count; i++) {
            ints[i] = (int) NumberBytes.integerAt(element, values, i * element.width());
        }
        return new GenericArrayData(ints);
    }

    private static GenericArrayData longs(ScalarType element, ByteBuffer values, int count) {
        long[] longs = new long[count];
        for (int i = 0; i < count; i++) {
            longs[i] = NumberBytes.integerAt(element, values, i * element.width());
        }
        return new GenericArrayData(longs);
    }

    private static GenericArrayData floats(ScalarType element, ByteBuffer values, int count) {
        float[] floats = new float[count];
        for (int i = 0; i < count; i++) {
            floats[i] = (float) NumberBytes.floatAt(element, values, i * element.width());
        }
        return new GenericArrayData(floats);
    }
}
