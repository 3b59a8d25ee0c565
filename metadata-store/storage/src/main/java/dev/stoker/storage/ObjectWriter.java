package dev.stoker.storage;

import dev.stoker.storage.errors.UnknownOutcomeException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Writes one new object. Not thread-safe. See {@link ObjectStore#write}. */
public interface ObjectWriter extends Closeable {

    /** Appends all remaining bytes of the buffer. */
    void write(ByteBuffer bytes) throws IOException;

    /** Appends all remaining bytes of the buffers, in order. */
    default void write(ByteBuffer[] buffers) throws IOException {
        for (ByteBuffer buffer : buffers) {
            write(buffer);
        }
    }

    /** Returns the number of appended bytes. */
    long position();

    /**
     * Makes the object durable and visible under its name. Must be the last call, and must be called once.
     *
     * @throws UnknownOutcomeException if the object may or may not be visible
     */
    void commit() throws IOException;

    /** Discards the appended bytes, unless they were committed. */
    @Override
    void close() throws IOException;
}
