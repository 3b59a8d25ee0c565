package dev.stoker.formats;

import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.values.NumberBytes;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.BitSet;

/** Collects the elements of a list of numbers as little-endian bytes. Reused for row after row. For one thread. */
public final class NumberWriter {
    private static final VarHandle SHORT = view(short[].class);
    private static final VarHandle INT = view(int[].class);
    private static final VarHandle LONG = view(long[].class);

    private final ScalarType type;
    private final long maxBytes;
    private byte[] bytes = new byte[256];
    private ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    private int length;
    /** The elements that are null. Their bytes are zeros. */
    private final BitSet nulls = new BitSet();

    /**
     * @param type type of the elements, a number
     * @param maxBytes length of a list; a longer one does not fit
     */
    public NumberWriter(ScalarType type, long maxBytes) {
        this.type = type;
        this.maxBytes = Math.min(maxBytes, Integer.MAX_VALUE - 16);
    }

    private static VarHandle view(Class<?> array) {
        return MethodHandles.byteArrayViewVarHandle(array, ByteOrder.LITTLE_ENDIAN);
    }

    /** Begins with an empty list. */
    public void clear() {
        length = 0;
        nulls.clear();
    }

    /** Returns the number of elements. */
    public int size() {
        return length / type.width();
    }

    /** Adds an integer, or the bits of a uint64. */
    public void addLong(long value) throws BadValueException {
        if (!NumberBytes.fits(type, value)) {
            throw new BadValueException(value + " does not fit into " + type);
        }
        addBits(value);
    }

    /** Adds a float32 or float64. */
    public void addDouble(double value) throws BadValueException {
        if (type.isExceededBy(value)) {
            throw new BadValueException(value + " is too large for a " + type);
        }
        addBits(
                type == ScalarType.FLOAT32
                        ? Float.floatToRawIntBits((float) value)
                        : Double.doubleToRawLongBits(value));
    }

    /** Adds the lower bits of a value, as many as the type has. */
    public void addBits(long bits) throws BadValueException {
        int at = reserve(type.width());
        switch (type.width()) {
            case 1 -> bytes[at] = (byte) bits;
            case 2 -> SHORT.set(bytes, at, (short) bits);
            case 4 -> INT.set(bytes, at, (int) bits);
            default -> LONG.set(bytes, at, bits);
        }
    }

    /** Adds a null. */
    public void addNull() throws BadValueException {
        nulls.set(size());
        addBits(0);
    }

    /**
     * Gives the list.
     *
     * @param list dotted name of the list, for messages
     * @throws NullItemException if an element is null, and the sink does not take it
     */
    public void give(ValueSink sink, String list) throws BadValueException {
        NullItems.give(bytes(), type.width(), nulls, list, sink);
    }

    /** Adds elements that are little-endian bytes already. */
    public void addBytes(ByteBuffer elements) throws BadValueException {
        int count = elements.remaining();
        int at = reserve(count);
        elements.get(elements.position(), bytes, at, count);
    }

    /** Returns the elements. The buffer is valid until the next change. */
    public ByteBuffer bytes() {
        return buffer.clear().limit(length);
    }

    private int reserve(int count) throws BadValueException {
        if (count > maxBytes - length) {
            throw new BadValueException("the list has more than " + maxBytes + " bytes, which is the limit of a value");
        }
        if (length + count > bytes.length) {
            bytes = Arrays.copyOf(bytes, (int) Math.min(maxBytes, Math.max(bytes.length * 2L, length + count)));
            buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        }
        int at = length;
        length += count;
        return at;
    }
}
