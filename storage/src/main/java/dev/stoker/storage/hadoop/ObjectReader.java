package dev.stoker.storage.hadoop;

import dev.stoker.storage.PartSink;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Reads one kind of file system with the fewest requests. Thread-safe. Every call is one attempt. */
interface ObjectReader extends Closeable {

    /** Hands on bytes from the offset on, at most as many as asked for, as far as the object reaches. */
    void read(String name, long offset, int length, PartSink sink) throws IOException;

    /** Fills the target from the offset on, as far as the object reaches. */
    default void read(String name, long offset, ByteBuffer target) throws IOException {
        read(name, offset, target.remaining(), (at, part) -> target.put(part));
    }

    /** Returns the object, if it has at most that many bytes; what it returns otherwise says nothing. */
    byte[] readAll(String name, long limitBytes) throws IOException;

    /** The object is about to be deleted. */
    void forget(String name);

    static ObjectReader of(HadoopObjectStore.Connection connection) {
        return connection.isObjectStore() ? new RequestReader(connection) : new OpenFileReader(connection);
    }
}
