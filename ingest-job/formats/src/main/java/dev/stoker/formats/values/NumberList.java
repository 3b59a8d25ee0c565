package dev.stoker.formats.values;

import dev.stoker.formats.BadValueException;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.values.NumberBytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Collects numbers as little-endian bytes of one type. Refuses numbers that it cannot hold. Not thread-safe. */
public final class NumberList {
    private static final int MAX_BYTES = Integer.MAX_VALUE - 8;

    private final ScalarType type;
    private ByteBuffer bytes = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);

    /** @param type a number */
    public NumberList(ScalarType type) {
        this.type = type;
    }

    public void clear() {
        bytes.clear();
    }

    /** Returns how many numbers were added. */
    public int size() {
        return bytes.position() / type.width();
    }

    /** Returns the numbers, valid until the list changes. */
    public ByteBuffer bytes() {
        return bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN).flip();
    }

    /** Returns the first number of a list of integers, or the bits of a uint64. */
    public long firstInteger() {
        return NumberBytes.integerAt(type, bytes, 0);
    }

    /** Returns the first number of a list of floating-point numbers. */
    public double firstReal() {
        return NumberBytes.floatAt(type, bytes, 0);
    }

    private void reserve() throws BadValueException {
        if (bytes.remaining() < 8) {
            if (bytes.capacity() == MAX_BYTES) {
                throw new BadValueException("the list has more than 2 GiB");
            }
            bytes = ByteBuffer.allocate((int) Math.min(MAX_BYTES, 2L * bytes.capacity()))
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .put(bytes.flip());
        }
    }

    /** Adds an integer. */
    public void add(long value) throws BadValueException {
        if (type.isFloat()) {
            add(Numbers.exact(value, type));
            return;
        }
        Numbers.checkRange(type, value);
        reserve();
        NumberBytes.put(type, value, bytes);
    }

    /** Adds the bits of a uint64 to a list of uint64. */
    public void addBits(long bits) throws BadValueException {
        reserve();
        bytes.putLong(bits);
    }

    /** Adds a floating-point number. Lists of integers refuse it, as single integers do. */
    public void add(double value) throws BadValueException {
        if (!type.isFloat()) {
            throw new BadValueException("the number " + value + " is not an " + type);
        }
        if (type.isExceededBy(value)) {
            throw new BadValueException(value + " is too large for a " + type);
        }
        reserve();
        NumberBytes.put(type, NumberBytes.bits(type, value), bytes);
    }
}
