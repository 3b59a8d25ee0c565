package dev.stoker.storage.hadoop;

import dev.stoker.storage.retry.CallScope;
import dev.stoker.storage.retry.Retries;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import org.apache.hadoop.fs.FSDataOutputStream;

/** Holds a file that is being written. Not thread-safe. */
final class OpenFile {

    private static final int BUFFER_BYTES = 256 << 10;

    private final FSDataOutputStream out;
    private final String where;
    private final Retries retries;
    private long position;

    /** @param where location of the file, as a user would type it */
    OpenFile(FSDataOutputStream out, String where, Retries retries) {
        this.out = out;
        this.where = where;
        this.retries = retries;
    }

    FSDataOutputStream out() {
        return out;
    }

    void write(ByteBuffer bytes) throws IOException {
        int count = bytes.remaining();
        try {
            copy(bytes, out);
        } catch (IOException e) {
            throw failed(e);
        }
        position += count;
    }

    /** Writes all remaining bytes. */
    private static void copy(ByteBuffer bytes, OutputStream out) throws IOException {
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

    long position() {
        return position;
    }

    /** Returns the exception to throw for a failure. */
    IOException failed(IOException e) {
        try (CallScope scope = CallScope.open(retries.limit())) {
            return HadoopErrors.INSTANCE.explain("write", where, e, 1, scope);
        }
    }
}
