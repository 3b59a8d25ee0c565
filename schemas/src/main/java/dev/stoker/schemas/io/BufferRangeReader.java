package dev.stoker.schemas.io;

import java.io.EOFException;
import java.nio.ByteBuffer;

/**
 * Reads a file that is in memory. The file is the buffer from position 0 to its limit. The buffer must not change.
 * Thread-safe.
 */
public final class BufferRangeReader implements RangeReader {
    private final String name;
    private final ByteBuffer bytes;

    /**
     * @param name the file's name for messages
     * @param bytes the file: from index 0 to the limit
     */
    public BufferRangeReader(String name, ByteBuffer bytes) {
        this.name = name;
        this.bytes = bytes.duplicate().position(0);
    }

    @Override
    public void readFully(long offset, ByteBuffer dst) throws EOFException {
        if (offset < 0 || offset + dst.remaining() > bytes.limit()) {
            throw new EOFException(name + " ends at byte " + bytes.limit() + ", but bytes " + offset + " to "
                    + (offset + dst.remaining()) + " were asked for");
        }
        int length = dst.remaining();
        dst.put(dst.position(), bytes, (int) offset, length);
        dst.position(dst.position() + length);
    }

    @Override
    public long length() {
        return bytes.limit();
    }

    @Override
    public String name() {
        return name;
    }
}
