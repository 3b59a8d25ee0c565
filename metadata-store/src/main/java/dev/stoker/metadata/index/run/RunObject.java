package dev.stoker.metadata.index.run;

import dev.stoker.schemas.index.RunSource;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A run of the sample index in a store, read part by part.
 *
 * @param store the store
 * @param object the object's name
 */
public record RunObject(ObjectStore store, String object) implements RunSource {

    @Override
    public String name() {
        return store.describe(object);
    }

    @Override
    public long length() throws IOException {
        return store.length(object);
    }

    @Override
    public ByteBuffer read(long position, int length) throws IOException {
        ByteBuffer part = ByteBuffer.allocate(length);
        store.read(object, position, part);
        return part.flip();
    }

    @Override
    public boolean takesMemory() {
        return true;
    }
}
