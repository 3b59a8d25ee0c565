package dev.stoker.storage;

import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Reads one object of a store through the interface of the formats. Thread-safe. */
public final class ObjectRangeReader implements RangeReader {

    private final ObjectStore store;
    private final String name;

    public ObjectRangeReader(ObjectStore store, String name) {
        this.store = store;
        this.name = name;
    }

    @Override
    public void readFully(long offset, ByteBuffer dst) throws IOException {
        store.read(name, offset, dst);
    }

    @Override
    public long length() throws IOException {
        return store.length(name);
    }

    @Override
    public String name() {
        return store.describe(name);
    }
}
