package dev.stoker.feeder.node.chunks;

import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.LongAdder;

/** Reads from origins, counted. Thread-safe. */
public final class OriginReads {
    private final LongAdder reads = new LongAdder();
    private final LongAdder bytes = new LongAdder();

    /** Reads a part of a chunk. */
    public void read(ObjectStore store, ChunkFile chunk, long offset, ByteBuffer target) throws IOException {
        reads.increment();
        bytes.add(target.remaining());
        store.read(chunk.name(), offset, target);
    }

    /** Reads so far. */
    public long reads() {
        return reads.sum();
    }

    /** Bytes of those. */
    public long bytes() {
        return bytes.sum();
    }
}
