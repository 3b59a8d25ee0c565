package dev.stoker.hadoop;

import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** Keeps the heads of the chunks that were used last, up to a number of bytes. Thread-safe. */
final class HeadCache {

    private final ObjectStore store;
    private final ChunkTable table;
    private final long capacityBytes;

    /** By the chunk's index, the one that was used last at the end. The map is also the lock of {@link #bytes}. */
    private final Map<Integer, ChunkHead> heads = new LinkedHashMap<>(16, 0.75f, true);

    private long bytes;

    HeadCache(ObjectStore store, ChunkTable table, long capacityBytes) {
        this.store = store;
        this.table = table;
        this.capacityBytes = capacityBytes;
    }

    /** Returns the verified head of a chunk. */
    ChunkHead get(int chunk) throws IOException {
        synchronized (heads) {
            ChunkHead known = heads.get(chunk);
            if (known != null) {
                return known;
            }
        }
        ChunkHead head = ChunkHeads.read(store, table, chunk);
        synchronized (heads) {
            if (heads.put(chunk, head) == null) {
                bytes += table.headLength(chunk);
            }
            Iterator<Integer> oldest = heads.keySet().iterator();
            while (bytes > capacityBytes && heads.size() > 1) {
                bytes -= table.headLength(oldest.next());
                oldest.remove();
            }
        }
        return head;
    }
}
