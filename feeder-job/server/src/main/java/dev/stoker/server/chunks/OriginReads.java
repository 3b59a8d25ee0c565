package dev.stoker.server.chunks;

import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.PartSink;
import dev.stoker.storage.errors.StoreAccessException;
import dev.stoker.storage.errors.StoreUnavailableException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
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
    private final Map<ObjectStore, Reachability> stores = new ConcurrentHashMap<>();

    /** Whether a store answers. Its lock is the object's own. */
    private static final class Reachability {
        private long answers;
        private Optional<String> failure = Optional.empty();

        synchronized long answers() {
            return answers;
        }

        synchronized void answered() {
            answers++;
            failure = Optional.empty();
        }

        /** @param before number of answers when the read began; if there was one since, the store is available */
        synchronized void failed(String message, long before) {
            if (answers == before) {
                failure = Optional.of(message);
            }
        }

        synchronized Optional<String> failure() {
            return failure;
        }
    }

    /** The same store, of which every call but reads of chunks counts as an operation on metadata. */
    public ObjectStore counting(ObjectStore store) {
        return new CountedStore(store, metadata);
    }

    /** Reads a part of a chunk. */
    public void read(ObjectStore store, ListedChunk chunk, long offset, ByteBuffer target) throws IOException {
        reads.increment();
        bytes.add(target.remaining());
        noting(store, () -> store.read(chunk.name(), offset, target));
    }

    /** Reads a whole chunk, part by part. */
    public void read(ObjectStore store, ListedChunk chunk, PartSink sink) throws IOException {
        reads.increment();
        bytes.add(chunk.length());
        noting(store, () -> store.read(chunk.name(), 0, chunk.length(), sink));
    }

    private interface Read {
        void run() throws IOException;
    }

    private void noting(ObjectStore store, Read read) throws IOException {
        Reachability reachability = stores.computeIfAbsent(store, s -> new Reachability());
        long before = reachability.answers();
        try {
            read.run();
            reachability.answered();
        } catch (StoreUnavailableException | StoreAccessException e) {
            reachability.failed(ErrorText.of(e), before);
            throw e;
        }
    }

    /** Returns the error of each store that has been unavailable since a read of a chunk failed. */
    public List<String> failures() {
        return stores.values().stream()
                .flatMap(store -> store.failure().stream())
                .sorted()
                .toList();
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
