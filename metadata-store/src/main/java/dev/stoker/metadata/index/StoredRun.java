package dev.stoker.metadata.index;

import dev.stoker.metadata.IndexRange;
import dev.stoker.schemas.index.RunSource;
import dev.stoker.schemas.index.SampleRun;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Opens runs of a store. Those on local disks are mapped; others are read part by part. */
final class StoredRun {

    private StoredRun() {}

    /** Opens a run. */
    static SampleRun open(ObjectStore store, IndexRange range) throws IOException {
        String name = range.name();
        var local = store.localPath(name);
        if (local.isPresent()) {
            // Throws the exception of an absent object.
            store.length(name);
            return SampleRun.open(MappedRun.open(local.get()));
        }
        return SampleRun.open(new ReadRun(store, name));
    }

    private record ReadRun(ObjectStore store, String object) implements RunSource {

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
}
