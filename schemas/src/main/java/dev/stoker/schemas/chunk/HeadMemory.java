package dev.stoker.schemas.chunk;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Memory for the heads of the chunks that a builder makes one after the other. Not thread-safe. */
final class HeadMemory {
    private byte[] array = new byte[0];

    /** Returns a little-endian buffer with any content. It is valid until the next call. */
    ByteBuffer take(int length) {
        if (array.length < length) {
            // The heads of full chunks differ a little in length.
            array = new byte[(int) Math.min(Integer.MAX_VALUE - 64L, length + length / 16L)];
        }
        return ByteBuffer.wrap(array, 0, length).slice().order(ByteOrder.LITTLE_ENDIAN);
    }
}
