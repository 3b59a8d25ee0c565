package dev.stoker.formats.input;

import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** Reads a file from an offset to its end. Not buffered; skipping reads nothing. Not thread-safe. */
final class RangeInput extends InputStream {
    private final RangeReader file;
    private final long length;
    private long position;

    RangeInput(RangeReader file, long offset) throws IOException {
        this.file = file;
        this.length = file.length();
        this.position = offset;
    }

    long position() {
        return position;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] dst, int offset, int count) throws IOException {
        if (count == 0) {
            return 0;
        }
        int now = (int) Math.min(count, length - position);
        if (now <= 0) {
            return -1;
        }
        file.readFully(position, ByteBuffer.wrap(dst, offset, now));
        position += now;
        return now;
    }

    @Override
    public long skip(long count) {
        long now = Math.max(0, Math.min(count, length - position));
        position += now;
        return now;
    }

    @Override
    public int available() {
        return (int) Math.min(Integer.MAX_VALUE, length - position);
    }
}
