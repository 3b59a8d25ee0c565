package dev.stoker.storage.hadoop;

import dev.stoker.storage.PartSink;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Reads one kind of file system with the fewest requests. Thread-safe. Every call is one attempt. */
interface ObjectReader extends Closeable {

    /** Passes bytes from the offset on to the sink: at most the requested number, up to the end of the object. */
    void read(String name, long offset, int length, PartSink sink) throws IOException;

    /** Fills the target from the offset on, up to the end of the object. */
    default void read(String name, long offset, ByteBuffer target) throws IOException {
        read(name, offset, target.remaining(), (at, part) -> target.put(part));
    }

    /** Returns the object if it has at most {@code limitBytes} bytes. Otherwise the result is undefined. */
    byte[] readAll(String name, long limitBytes) throws IOException;

    /** Tells the reader that the object is about to be deleted. */
    void forget(String name);

    static ObjectReader of(HadoopObjectStore.Connection connection) {
        return connection.isObjectStore() ? new RequestReader(connection) : new OpenFileReader(connection);
    }
}
