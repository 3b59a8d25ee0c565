package dev.stoker.formats.input;

import java.util.Arrays;

/** Holds the bytes of a line. Not thread-safe. */
public final class LineBuffer {
    private static final int MAX = Integer.MAX_VALUE - 8;

    private byte[] bytes = new byte[1 << 12];
    private int length;

    void clear() {
        length = 0;
    }

    void append(byte[] src, int offset, int count) {
        if (bytes.length - length < count) {
            bytes = Arrays.copyOf(bytes, (int) Math.min(MAX, Math.max(2L * bytes.length, (long) length + count)));
        }
        System.arraycopy(src, offset, bytes, length, count);
        length += count;
    }

    /** Returns the array with the bytes from index 0 on, valid until the next line. */
    public byte[] bytes() {
        return bytes;
    }

    public int length() {
        return length;
    }
}
