package dev.stoker.storage;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** Provides a buffered stream over data that is read in ranges, from its first byte. Not thread-safe. */
public abstract class RangeStream extends InputStream {

    private final ByteBuffer buffer;
    private long offset;

    /** @param bufferBytes number of bytes that are read at a time */
    protected RangeStream(int bufferBytes) {
        buffer = ByteBuffer.allocate(bufferBytes).limit(0);
    }

    /** Reads bytes from the offset on into the target, at least one unless the end is reached. */
    protected abstract void read(long offset, ByteBuffer target) throws IOException;

    private boolean fill() throws IOException {
        if (!buffer.hasRemaining()) {
            read(offset, buffer.clear());
            offset += buffer.flip().remaining();
        }
        return buffer.hasRemaining();
    }

    @Override
    public int read() throws IOException {
        return fill() ? buffer.get() & 0xFF : -1;
    }

    @Override
    public int read(byte[] target, int from, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (!fill()) {
            return -1;
        }
        int count = Math.min(length, buffer.remaining());
        buffer.get(target, from, count);
        return count;
    }
}
