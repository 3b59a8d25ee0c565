package dev.stoker.ingest.topic;

import dev.stoker.schemas.arrow.FieldType;
import dev.stoker.schemas.arrow.ListType;
import dev.stoker.schemas.arrow.ScalarType;
import dev.stoker.schemas.arrow.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/** Collects the elements of a list or tensor as the bytes of its field. For one thread; reusable. */
final class NumberList {

    private ByteBuffer bytes = ByteBuffer.allocate(1024).order(ByteOrder.LITTLE_ENDIAN);
    private ScalarType element = ScalarType.INT8;

    /** The type of a list's or tensor's elements. */
    static Optional<ScalarType> elementOf(FieldType type) {
        if (type instanceof ListType list) {
            return Optional.of(list.element());
        }
        return type instanceof TensorType tensor ? Optional.of(tensor.element()) : Optional.empty();
    }

    void begin(ScalarType type) {
        element = type;
        bytes.clear();
    }

    boolean isFloat() {
        return element.isFloat();
    }

    /** @throws IllegalArgumentException if the value is not in the element's range */
    void add(long value) {
        if (element.isFloat()) {
            add((double) value);
            return;
        }
        checkRange(value);
        room();
        switch (element.width()) {
            case 1 -> bytes.put((byte) value);
            case 2 -> bytes.putShort((short) value);
            case 4 -> bytes.putInt((int) value);
            default -> bytes.putLong(value);
        }
    }

    /** @throws IllegalArgumentException if elements are whole numbers */
    void add(double value) {
        room();
        switch (element) {
            case FLOAT32 -> bytes.putFloat((float) value);
            case FLOAT64 -> bytes.putDouble(value);
            default -> throw new IllegalArgumentException(value + " is not a valid " + element);
        }
    }

    private void checkRange(long value) {
        int bits = 8 * element.width();
        boolean isSigned = element.canonical().startsWith("int");
        long least = isSigned ? (bits == 64 ? Long.MIN_VALUE : -1L << (bits - 1)) : 0;
        long most = bits == 64 ? Long.MAX_VALUE : isSigned ? ~least : (1L << bits) - 1;
        if (value < least || value > most) {
            throw new IllegalArgumentException(value + " does not fit into " + element);
        }
    }

    private void room() {
        if (bytes.remaining() < Long.BYTES) {
            bytes = ByteBuffer.allocate(2 * bytes.capacity())
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .put(bytes.flip());
        }
    }

    /** A copy of the elements. */
    ByteBuffer copy() {
        ByteBuffer taken = take();
        return ByteBuffer.allocate(taken.remaining()).put(taken).flip();
    }

    /** The elements, valid until the next {@link #begin}. */
    ByteBuffer take() {
        return bytes.flip();
    }
}
