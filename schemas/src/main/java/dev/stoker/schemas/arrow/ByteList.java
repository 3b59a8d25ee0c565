package dev.stoker.schemas.arrow;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Collects little-endian bytes on the heap and grows as needed. Not thread-safe. */
final class ByteList {
    private static final int MAX_BYTES = Integer.MAX_VALUE - 64;

    private byte[] array = new byte[64];
    private ByteBuffer view = wrap(array);
    private int length;

    int length() {
        return length;
    }

    void addByte(int value) {
        grow(1);
        array[length++] = (byte) value;
    }

    void addShort(int value) {
        grow(2);
        view.putShort(length, (short) value);
        length += 2;
    }

    void addInt(int value) {
        grow(4);
        view.putInt(length, value);
        length += 4;
    }

    void addLong(long value) {
        grow(8);
        view.putLong(length, value);
        length += 8;
    }

    void add(byte[] bytes, int offset, int count) {
        grow(count);
        System.arraycopy(bytes, offset, array, length, count);
        length += count;
    }

    /** Adds the bytes between position and limit. Does not change the buffer. */
    void add(ByteBuffer bytes) {
        int count = bytes.remaining();
        grow(count);
        bytes.get(bytes.position(), array, length, count);
        length += count;
    }

    void addZeros(int count) {
        addFilled(count, 0);
    }

    /** Adds the least significant bytes of a number: 1, 2, 4 or 8 of them. */
    void addNumber(long value, int width) {
        switch (width) {
            case 1 -> addByte((int) value);
            case 2 -> addShort((int) value);
            case 4 -> addInt((int) value);
            default -> addLong(value);
        }
    }

    /** Adds bytes of one value. */
    void addFilled(int count, int value) {
        grow(count);
        Arrays.fill(array, length, length + count, (byte) value);
        length += count;
    }

    byte get(int at) {
        return array[at];
    }

    int getInt(int at) {
        return view.getInt(at);
    }

    void set(int at, int value) {
        array[at] = (byte) value;
    }

    void truncate(int to) {
        length = to;
    }

    /** Returns the bytes so far, shared, little-endian. */
    ByteBuffer buffer() {
        return ByteBuffer.wrap(array, 0, length).slice().order(ByteOrder.LITTLE_ENDIAN);
    }

    private void grow(int count) {
        if (count > MAX_BYTES - length) {
            throw new IllegalStateException("a column would pass 2^31 bytes; write smaller batches");
        }
        if (length + count > array.length) {
            long doubled = Math.max(length + (long) count, array.length * 2L);
            array = Arrays.copyOf(array, (int) Math.min(doubled, MAX_BYTES));
            view = wrap(array);
        }
    }

    private static ByteBuffer wrap(byte[] array) {
        return ByteBuffer.wrap(array).order(ByteOrder.LITTLE_ENDIAN);
    }
}
