package dev.stoker.server.lookup;

import dev.stoker.schemas.batch.BatchChunk;
import dev.stoker.server.chunks.ListedChunk;
import dev.stoker.server.window.ChunkHeads;
import dev.stoker.server.window.ServedStream;
import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/**
 * The heads of the chunks that lookups used last, within a limit of bytes. Thread-safe; no thread holds the lock during
 * a read.
 */
final class HeadCache {
    private record Key(UUID chunk, long version) {}

    private record Kept(LookupChunk chunk, long bytes) {}

    private final long limitBytes;
    /** Guarded by its own monitor, as {@link #usedBytes} is. Class ids depend on the version. */
    private final Map<Key, Kept> kept = new LinkedHashMap<>(64, 0.75f, true);

    private long usedBytes;

    HeadCache(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /**
     * Returns a chunk, and reads its head if necessary.
     *
     * @param index index in the chunks of the stream
     * @throws dev.stoker.schemas.errors.CorruptDataException if the head is damaged
     */
    LookupChunk get(ServedStream stream, int index) throws IOException {
        Key key = new Key(stream.chunks().id(index), stream.version());
        synchronized (kept) {
            Kept known = kept.get(key);
            if (known != null) {
                return known.chunk();
            }
        }
        ListedChunk file = stream.file(index);
        var head = ChunkHeads.readAlone(stream, index, file);
        LookupChunk chunk = new LookupChunk(file, new BatchChunk(head, null, 0, ChunkHeads.classIds(stream, head)));
        long bytes = LookupChunk.bytes(stream.chunks().headLength(index));
        synchronized (kept) {
            if (bytes <= limitBytes && kept.putIfAbsent(key, new Kept(chunk, bytes)) == null) {
                usedBytes += bytes;
                for (Iterator<Kept> oldest = kept.values().iterator(); usedBytes > limitBytes; ) {
                    usedBytes -= oldest.next().bytes();
                    oldest.remove();
                }
            }
        }
        return chunk;
    }

    /** Returns the bytes of the heads. */
    long usedBytes() {
        synchronized (kept) {
            return usedBytes;
        }
    }
}
