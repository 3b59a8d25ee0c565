package dev.stoker.storage.hadoop;

import dev.stoker.storage.retry.CallScope;
import dev.stoker.storage.retry.Retries;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.hadoop.fs.FSDataOutputStream;

/** Holds a file that is being written. Not thread-safe. */
final class OpenFile {

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
            StreamCopy.write(bytes, out);
        } catch (IOException e) {
            throw failed(e);
        }
        position += count;
    }

    long position() {
        return position;
    }

    /** Returns the exception to throw for a failure. */
    IOException failed(IOException e) {
        try (CallScope scope = CallScope.open(retries.limit())) {
            return StoreErrors.INSTANCE.explain("write", where, e, 1, scope);
        }
    }
}
