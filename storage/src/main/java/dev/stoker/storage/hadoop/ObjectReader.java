package dev.stoker.storage.hadoop;

import dev.stoker.storage.PartSink;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Reads a kind of file system with the fewest requests. Thread-safe; every call is one attempt. */
interface ObjectReader extends Closeable {

    /** Passes on at most {@code length} bytes from the offset on, up to the object's end. */
    void read(String name, long offset, int length, PartSink sink) throws IOException;

    /** Fills the target from the offset on, up to the object's end. */
    default void read(String name, long offset, ByteBuffer target) throws IOException {
        read(name, offset, target.remaining(), (at, part) -> target.put(part));
    }

    /** Returns the object if it has at most {@code limitBytes} bytes. The result for longer objects is undefined. */
    byte[] readAll(String name, long limitBytes) throws IOException;

    /** Called before the object is deleted. */
    void forget(String name);

    static ObjectReader of(HadoopObjectStore.Connection connection) {
        return connection.isObjectStore() ? new RequestReader(connection) : new OpenFileReader(connection);
    }
}
