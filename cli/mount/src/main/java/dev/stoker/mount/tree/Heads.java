package dev.stoker.mount.tree;

import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkOverlay;
import dev.stoker.server.chunks.ListedChunk;
import dev.stoker.server.window.ChunkHeads;
import dev.stoker.server.window.ServedStream;
import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The heads of the chunks that were used last, within a limit of bytes. Thread-safe; no thread holds the lock during a
 * read.
 */
final class Heads {

    /** Bytes of a parsed head beside the head's own bytes, roughly. */
    private static final int OVERHEAD_BYTES = 1024;

    /** A head has the values of its overlay. */
    private record Key(UUID chunk, @Nullable UUID overlay) {}

    private record Kept(ChunkHead head, long bytes) {}

    private final long limitBytes;
    /** Guarded by its own monitor, as {@link #usedBytes} is. */
    private final Map<Key, Kept> kept = new LinkedHashMap<>(64, 0.75f, true);

    private long usedBytes;

    Heads(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /**
     * Returns the head of a chunk, and reads it if necessary.
     *
     * @param index index in the chunks of the stream
     * @throws dev.stoker.schemas.errors.CorruptDataException if it is damaged
     */
    ChunkHead get(ServedStream stream, int index, ListedChunk file) throws IOException {
        ChunkOverlay overlay = stream.chunks().overlay(index);
        Key key = new Key(file.id(), overlay == null ? null : overlay.id());
        synchronized (kept) {
            Kept known = kept.get(key);
            if (known != null) {
                return known.head();
            }
        }
        ChunkHead head = ChunkHeads.readAlone(stream, index, file);
        long bytes = (long) stream.chunks().headLength(index) + OVERHEAD_BYTES;
        synchronized (kept) {
            if (bytes <= limitBytes && kept.putIfAbsent(key, new Kept(head, bytes)) == null) {
                usedBytes += bytes;
                for (Iterator<Kept> oldest = kept.values().iterator(); usedBytes > limitBytes; ) {
                    usedBytes -= oldest.next().bytes();
                    oldest.remove();
                }
            }
        }
        return head;
    }

    /** Returns the bytes of the heads. */
    long usedBytes() {
        synchronized (kept) {
            return usedBytes;
        }
    }
}
