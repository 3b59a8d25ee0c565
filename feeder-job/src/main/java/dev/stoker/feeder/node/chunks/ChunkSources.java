package dev.stoker.feeder.node.chunks;

import dev.stoker.storage.ObjectStore;
import java.util.concurrent.atomic.LongAdder;

/** Chooses how a dataset's chunks are read, and counts the reads. Thread-safe. */
public final class ChunkSources implements AutoCloseable {
    private final Mappings mappings;
    private final LongAdder reads = new LongAdder();
    private final LongAdder readBytes = new LongAdder();

    /** @param maxMappings chunk files mapped at a time, over all datasets */
    public ChunkSources(int maxMappings) {
        mappings = new Mappings(maxMappings);
    }

    /** Plain local files are mapped in place; chunks of any other store are read whole. */
    public ChunkSource of(ObjectStore store) {
        return store.localPath("chunks").isPresent()
                ? new MappedChunks(store, mappings, reads, readBytes)
                : new ReadChunks(store, reads, readBytes);
    }

    /** Reads from the origin. */
    public long reads() {
        return reads.sum();
    }

    /** Bytes of those. */
    public long readBytes() {
        return readBytes.sum();
    }

    /** Mapped files now. */
    public int mapped() {
        return mappings.size();
    }

    @Override
    public void close() {
        mappings.close();
    }
}
