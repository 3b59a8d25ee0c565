package dev.stoker.server.chunks;

import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.PartSink;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.LongAdder;

/**
 * What is asked of origins, counted: reads of chunks, and everything else. Thread-safe.
 *
 * <p>It counts around the store and not in the file system's client, whose statistics differ between file systems and
 * include retries. A listing is one call, whatever the number of its pages.
 */
public final class OriginReads {
    private final LongAdder reads = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder metadata = new LongAdder();

    /** The same store, of which every call but reads of chunks counts as an operation on metadata. */
    public ObjectStore counting(ObjectStore store) {
        return new CountedStore(store, metadata);
    }

    /** Reads a part of a chunk. */
    public void read(ObjectStore store, ListedChunk chunk, long offset, ByteBuffer target) throws IOException {
        reads.increment();
        bytes.add(target.remaining());
        store.read(chunk.name(), offset, target);
    }

    /** Reads a whole chunk, part by part. */
    public void read(ObjectStore store, ListedChunk chunk, PartSink sink) throws IOException {
        reads.increment();
        bytes.add(chunk.length());
        store.read(chunk.name(), 0, chunk.length(), sink);
    }

    /** Reads so far. */
    public long reads() {
        return reads.sum();
    }

    /** Bytes of those. */
    public long bytes() {
        return bytes.sum();
    }

    /** Other calls so far: listings, lengths, reads of the log and its tables. */
    public long metadata() {
        return metadata.sum();
    }
}
