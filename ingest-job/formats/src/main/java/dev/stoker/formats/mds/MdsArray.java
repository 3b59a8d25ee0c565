package dev.stoker.formats.mds;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The encoding {@code ndarray[:type[:shape]]}. A value has a byte for the type if the encoding does not name it, then,
 * if the encoding does not name the shape, a byte with the number of dimensions and the width of a dimension and the
 * dimensions, then the numbers.
 *
 * @param element the type that the encoding names, or null
 * @param shape the shape that the encoding names, or an empty list
 */
record MdsArray(@Nullable ScalarType element, List<Integer> shape) {
    private static final String PREFIX = "ndarray";
    private static final int MAX_DIMENSIONS = 63;

    /** A value: its type, shape and numbers. */
    private record Value(ScalarType element, long[] shape, ByteBuffer numbers) {}

    static boolean isArray(String encoding) {
        return encoding.equals(PREFIX) || encoding.startsWith(PREFIX + ":");
    }

    /** Returns the encoding, or null if its type or shape is not known. */
    static @Nullable MdsArray parse(String encoding) {
        String[] parts = encoding.split(":", -1);
        if (parts.length == 1) {
            return new MdsArray(null, List.of());
        }
        try {
            if (parts.length == 2 && FieldType.parse(parts[1]) instanceof ScalarType scalar && scalar.isNumber()) {
                return new MdsArray(scalar, List.of());
            }
            if (parts.length == 3 && FieldType.parse(parts[1] + "[" + parts[2] + "]") instanceof TensorType tensor) {
                return new MdsArray(tensor.element(), tensor.shape());
            }
        } catch (IllegalArgumentException e) {
            return null;
        }
        return null;
    }

    /**
     * Returns the type that holds the values.
     *
     * @param first the first value, or null if there is none
     * @return null if no type holds it
     */
    @Nullable
    FieldType type(@Nullable ByteBuffer first) {
        if (element != null && !shape.isEmpty()) {
            return new TensorType(element, shape);
        }
        ScalarType number = element == null ? ScalarType.FLOAT64 : element;
        int dimensions = 1;
        if (first != null) {
            try {
                Value value = decode(first);
                number = value.element;
                dimensions = value.shape.length;
            } catch (BadValueException e) {
                return null;
            }
        }
        return dimensions > 2 ? null : dimensions == 1 ? new ListType(number) : new ListType(new ListType(number));
    }

    void give(ByteBuffer value, FieldType type, ValueSink sink) throws BadValueException {
        Value array = decode(value);
        if (type instanceof TensorType) {
            sink.setBytes(array.numbers);
            return;
        }
        ListType list = (ListType) type;
        boolean nested = list.isOfLists();
        if (array.shape.length != (nested ? 2 : 1) || list.element() != array.element) {
            throw new BadValueException("an array of " + array.element + " and shape " + Arrays.toString(array.shape)
                    + " is not " + type + ", as the first one of the shard is");
        }
        if (nested) {
            int[] lengths = new int[(int) array.shape[0]];
            Arrays.fill(lengths, (int) array.shape[1]);
            sink.setLists(array.numbers, lengths);
        } else {
            sink.setBytes(array.numbers);
        }
    }

    private Value decode(ByteBuffer value) throws BadValueException {
        ByteBuffer in = value.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        ScalarType number = element == null ? elementOf(next(in)) : element;
        long[] dimensions = shape.stream().mapToLong(i -> i).toArray();
        if (shape.isEmpty()) {
            int head = next(in);
            dimensions = new long[head >> 2];
            if (dimensions.length == 0 || dimensions.length > MAX_DIMENSIONS) {
                throw new BadValueException("an array has " + dimensions.length + " dimensions");
            }
            int width = 1 << (head & 3);
            if (in.remaining() < (long) width * dimensions.length) {
                throw new BadValueException("an array ends in its shape");
            }
            for (int i = 0; i < dimensions.length; i++) {
                dimensions[i] = switch (width) {
                    case 1 -> in.get() & 0xFF;
                    case 2 -> in.getShort() & 0xFFFF;
                    case 4 -> in.getInt() & 0xFFFFFFFFL;
                    default -> in.getLong();
                };
            }
        }
        long bytes = number.width();
        for (long dimension : dimensions) {
            bytes = dimension < 0 || dimension > Integer.MAX_VALUE || bytes > Integer.MAX_VALUE
                    ? -1
                    : bytes * dimension;
        }
        if (bytes != in.remaining()) {
            throw new BadValueException("an array of " + number + " and shape " + Arrays.toString(dimensions) + " has "
                    + in.remaining() + " bytes");
        }
        return new Value(number, dimensions, in);
    }

    private static int next(ByteBuffer in) throws BadValueException {
        if (!in.hasRemaining()) {
            throw new BadValueException("an array ends in its header");
        }
        return in.get() & 0xFF;
    }

    private static ScalarType elementOf(int code) throws BadValueException {
        return switch (code) {
            case 8 -> ScalarType.UINT8;
            case 9 -> ScalarType.INT8;
            case 16 -> ScalarType.UINT16;
            case 17 -> ScalarType.INT16;
            case 18 -> ScalarType.FLOAT16;
            case 32 -> ScalarType.UINT32;
            case 33 -> ScalarType.INT32;
            case 34 -> ScalarType.FLOAT32;
            case 64 -> ScalarType.UINT64;
            case 65 -> ScalarType.INT64;
            case 66 -> ScalarType.FLOAT64;
            default -> throw new BadValueException("an array has the unknown type " + code);
        };
    }
}
