package dev.stoker.feeder.node.chunks;

import dev.stoker.storage.NoSuchObjectException;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.atomic.LongAdder;

/** Chunks that are plain files of this machine, mapped in place. */
final class MappedChunks implements ChunkSource {
    private final ObjectStore store;
    private final Mappings mappings;
    private final LongAdder reads;
    private final LongAdder readBytes;

    MappedChunks(ObjectStore store, Mappings mappings, LongAdder reads, LongAdder readBytes) {
        this.store = store;
        this.mappings = mappings;
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
        try {
            return mappings.hold(chunk.path(this::path), chunk.length());
        } catch (NoSuchFileException e) {
            throw new NoSuchObjectException(store.describe(chunk.name()));
        }
    }

    @Override
    public void forget(ChunkFile chunk) {
        mappings.forget(chunk.path(this::path));
    }

    private Path path(String name) {
        return store.localPath(name).orElseThrow(() -> new IllegalStateException(name + " is no local file any more"));
    }

    /** The mappings are shared with other streams and closed by the node. */
    @Override
    public void close() {}
}
