package dev.stoker.server.lookup;

import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.server.window.ServedStream;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * What the lookups of a server share: open indexes, heads, and memory for answers. Thread-safe; no thread holds the
 * lock during a read.
 */
public final class Lookups implements AutoCloseable {
    /** Versions of streams whose index is kept open. */
    private static final int INDEXES_KEPT = 8;

    /** Opens the sample index of a stream's version. */
    public interface Opener {
        /** Returns the index of the stream's split; empty if its samples cannot be looked up. */
        Optional<SampleIndex> open(ServedStream stream) throws IOException;
    }

    private record Key(UUID dataset, long version, String split) {}

    private final Opener opener;
    private final LookupHeads heads;
    private final LookupMemory memory;
    private final LookupThreads threads;
    /** Guarded by its own monitor. */
    private final Map<Key, SampleIndex> indexes = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, SampleIndex> eldest) {
            return size() > INDEXES_KEPT;
        }
    };

    /**
     * @param headBytes limit of the heads that are kept
     * @param memory for answers
     * @param threads for far chunks
     */
    public Lookups(Opener opener, long headBytes, LookupMemory memory, LookupThreads threads) {
        this.opener = opener;
        this.heads = new LookupHeads(headBytes);
        this.memory = memory;
        this.threads = threads;
    }

    /**
     * Returns the samples of a stream's version. The first call opens the index.
     *
     * @return empty if the samples of the stream cannot be looked up
     * @throws IOException if the index cannot be opened
     */
    public Optional<SampleLookup> of(ServedStream stream) throws IOException {
        Key key = new Key(stream.dataset(), stream.version(), stream.split());
        SampleIndex index;
        synchronized (indexes) {
            index = indexes.get(key);
        }
        if (index == null) {
            Optional<SampleIndex> opened = opener.open(stream);
            if (opened.isEmpty()) {
                return Optional.empty();
            }
            synchronized (indexes) {
                indexes.putIfAbsent(key, opened.get());
                index = indexes.get(key);
            }
        }
        return Optional.of(new SampleLookup(stream, index, heads, memory, threads));
    }

    /** Returns the memory of heads and answers. */
    public long usedBytes() {
        return heads.usedBytes() + memory.usedBytes();
    }

    @Override
    public void close() {
        threads.close();
    }
}
