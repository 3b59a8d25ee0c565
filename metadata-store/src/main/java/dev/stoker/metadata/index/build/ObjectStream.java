package dev.stoker.metadata.index.build;

import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.RangeStream;
import java.io.IOException;
import java.nio.ByteBuffer;

/** The bytes of an object. */
final class ObjectStream extends RangeStream {

    private final ObjectStore store;
    private final String name;
    private final long length;

    /** @param bufferBytes number of bytes that are read at a time */
    ObjectStream(ObjectStore store, String name, long length, int bufferBytes) {
        super((int) Math.min(bufferBytes, length));
        this.store = store;
        this.name = name;
        this.length = length;
    }

    @Override
    protected void read(long offset, ByteBuffer target) throws IOException {
        if (offset < length) {
            store.read(name, offset, target.limit((int) Math.min(target.capacity(), length - offset)));
        }
    }
}
