package dev.stoker.hadoop;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The verified contents of a file. Thread-safe. */
interface SampleContent {

    /**
     * Copies bytes.
     *
     * @param position of the first byte; before the end
     * @return number of bytes; at least 1, and fewer than {@code length} if this is faster or the contents end
     */
    int read(long position, byte[] target, int offset, int length) throws IOException;

    /** Returns the contents in memory. */
    static SampleContent of(ByteBuffer bytes) {
        return (position, target, offset, length) -> {
            int count = (int) Math.min(length, bytes.limit() - position);
            bytes.get((int) position, target, offset, count);
            return count;
        };
    }
}
