package dev.stoker.storage.hadoop;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.hadoop.fs.FSDataOutputStream;

/** A file that is being written. For one thread. */
final class OpenFile {

    private final FSDataOutputStream out;
    private final String where;
    private final Retries retries;
    private long position;

    /** @param where the file, as a user would type it */
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

    /** Converts a failure to the exception to throw. */
    IOException failed(IOException e) {
        try (CallScope scope = CallScope.open(retries.limit())) {
            return StoreErrors.explain("write", where, e, 1, scope);
        }
    }
}
