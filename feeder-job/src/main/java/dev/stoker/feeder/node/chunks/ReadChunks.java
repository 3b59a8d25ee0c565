package dev.stoker.feeder.node.chunks;

import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.LongAdder;

/**
 * Chunks of a store that this machine cannot map. Each hold reads the chunk anew: the tiers that will stand in front of such
 * stores are what makes it fast.
 */
final class ReadChunks implements ChunkSource {
    private final ObjectStore store;
    private final LongAdder reads;
    private final LongAdder readBytes;

    ReadChunks(ObjectStore store, LongAdder reads, LongAdder readBytes) {
        this.store = store;
        this.reads = reads;
        this.readBytes = readBytes;
    }

    @Override
    public void read(ChunkFile chunk, long offset, ByteBuffer target) throws IOException {
        reads.increment();
        readBytes.add(target.remaining());
        store.read(chunk.name(), offset, target);
    }

    @Override
    public ChunkBytes hold(ChunkFile chunk) throws IOException {
        OwnedBytes bytes = new OwnedBytes(chunk.length());
        try {
            read(chunk, 0, bytes.bytes().duplicate());
            return bytes;
        } catch (IOException | RuntimeException | Error e) {
            bytes.close();
            throw e;
        }
    }

    @Override
    public void forget(ChunkFile chunk) {}

    @Override
    public void close() {}
}
