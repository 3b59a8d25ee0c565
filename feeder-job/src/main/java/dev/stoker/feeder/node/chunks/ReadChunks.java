package dev.stoker.feeder.node.chunks;

import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Chunks of a store that this machine cannot map, read whole into working memory and kept while there is room, those of the
 * windows in use longest.
 */
final class ReadChunks implements ChunkSource {
    private final ObjectStore store;
    private final HeldChunks held;
    private final OriginReads reads;

    ReadChunks(ObjectStore store, HeldChunks held, OriginReads reads) {
        this.store = store;
        this.held = held;
        this.reads = reads;
    }

    @Override
    public void read(ChunkFile chunk, long offset, ByteBuffer target) throws IOException {
        reads.read(store, chunk, offset, target);
    }

    @Override
    public ChunkBytes hold(ChunkFile chunk) throws IOException {
        return held.hold(key(chunk), chunk.length(), () -> load(chunk));
    }

    private ByteBuffer load(ChunkFile chunk) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocateDirect(chunk.length());
        try {
            read(chunk, 0, bytes.duplicate());
            return bytes;
        } catch (IOException | RuntimeException | Error e) {
            DirectMemory.free(bytes);
            throw e;
        }
    }

    @Override
    public void fetchAhead(ChunkFile chunk) throws IOException {
        hold(chunk).close();
    }

    @Override
    public boolean takesMemory() {
        return true;
    }

    @Override
    public void forget(ChunkFile chunk) {
        held.forget(key(chunk));
    }

    private String key(ChunkFile chunk) {
        return store.describe(chunk.name());
    }
}
