package dev.stoker.server.chunks;

import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Chunks that are plain files of this machine, mapped in place. A mapping counts one, whatever its length. */
final class MappedChunks implements ChunkSource {
    private final ObjectStore store;
    private final HeldChunks mappings;
    private final OriginReads reads;

    MappedChunks(ObjectStore store, HeldChunks mappings, OriginReads reads) {
        this.store = store;
        this.mappings = mappings;
        this.reads = reads;
    }

    @Override
    public void read(ListedChunk chunk, long offset, ByteBuffer target) throws IOException {
        reads.read(store, chunk, offset, target);
    }

    @Override
    public ChunkBytes hold(ListedChunk chunk) throws IOException {
        Path path = chunk.path(this::path);
        try {
            return mappings.map(path, chunk.length());
        } catch (NoSuchFileException e) {
            throw new NoSuchObjectException(store.describe(chunk.name()));
        }
    }

    @Override
    public boolean takesMemory() {
        return false;
    }

    @Override
    public boolean hasFiles() {
        return true;
    }

    @Override
    public void forget(ListedChunk chunk) {
        mappings.forget(chunk.path(this::path));
    }

    private Path path(String name) {
        return store.localPath(name).orElseThrow(() -> new IllegalStateException(name + " is no longer a local file"));
    }
}
