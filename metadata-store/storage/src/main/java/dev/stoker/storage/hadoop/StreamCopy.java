package dev.stoker.storage.hadoop;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;

/** Copies buffers into streams. */
final class StreamCopy {

    private static final int BUFFER_BYTES = 256 << 10;

    private StreamCopy() {}

    /** Writes all remaining bytes. */
    static void write(ByteBuffer bytes, OutputStream out) throws IOException {
        if (bytes.hasArray()) {
            out.write(bytes.array(), bytes.arrayOffset() + bytes.position(), bytes.remaining());
            bytes.position(bytes.limit());
            return;
        }
        byte[] buffer = new byte[Math.min(bytes.remaining(), BUFFER_BYTES)];
        while (bytes.hasRemaining()) {
            int count = Math.min(buffer.length, bytes.remaining());
            bytes.get(buffer, 0, count);
            out.write(buffer, 0, count);
        }
    }
}
