package dev.stoker.storage;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;

/** Writes an object as a stream, in larger parts. Closing it does not commit the object. For one thread. */
public final class ObjectOutput extends OutputStream {
    private static final int BUFFER = 256 << 10;

    private final ObjectWriter writer;
    private final byte[] buffer = new byte[BUFFER];
    private int filled;

    public ObjectOutput(ObjectWriter writer) {
        this.writer = writer;
    }

    @Override
    public void write(int b) throws IOException {
        if (filled == buffer.length) {
            flush();
        }
        buffer[filled++] = (byte) b;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        if (length > buffer.length - filled) {
            flush();
        }
        if (length >= buffer.length) {
            writer.write(ByteBuffer.wrap(bytes, offset, length));
        } else {
            System.arraycopy(bytes, offset, buffer, filled, length);
            filled += length;
        }
    }

    @Override
    public void flush() throws IOException {
        if (filled > 0) {
            writer.write(ByteBuffer.wrap(buffer, 0, filled));
            filled = 0;
        }
    }
}
