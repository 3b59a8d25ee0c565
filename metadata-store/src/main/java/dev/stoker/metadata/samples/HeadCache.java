package dev.stoker.metadata.samples;

import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.schemas.cache.BoundedCache;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkOverlay;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The heads of the chunks that were used last, with the fields and values of their versions, within a limit of bytes. A
 * head that is larger than the limit is kept alone. Versions share heads that are equal. Thread-safe; no thread holds
 * the lock during a read.
 */
public final class HeadCache {

    /** Bytes of a parsed head beside the head's own bytes, roughly. */
    private static final int OVERHEAD_BYTES = 1024;

    private record Key(UUID chunk, @Nullable UUID overlay, AddedFields added) {}

    private final BoundedCache<Key, ChunkHead> heads;

    public HeadCache(long limitBytes) {
        this.heads = new BoundedCache<>(limitBytes, BoundedCache.Large.KEPT_ALONE);
    }

    /**
     * Returns the head of a chunk.
     *
     * @param index index in the chunk table
     * @throws dev.stoker.schemas.errors.CorruptDataException if it is damaged
     */
    public ChunkHead get(ObjectStore store, ChunkTable table, int index) throws IOException {
        return heads.get(
                key(table.id(index), table.overlay(index), table.added()),
                bytes(table.headLength(index)),
                () -> read(store, table, index));
    }

    /**
     * Returns the head of a chunk.
     *
     * @param index index in the chunks of a stream
     * @param loader reads and verifies the head with the fields and values of the version
     */
    public ChunkHead get(StreamChunks chunks, int index, BoundedCache.Loader<ChunkHead> loader) throws IOException {
        return heads.get(
                key(chunks.id(index), chunks.overlay(index), chunks.added()), bytes(chunks.headLength(index)), loader);
    }

    /** Bytes can be damaged on their way, so a second read decides. */
    private static ChunkHead read(ObjectStore store, ChunkTable table, int index) throws IOException {
        try {
            return ChunkHeads.read(store, table, index);
        } catch (CorruptDataException first) {
            return ChunkHeads.read(store, table, index);
        }
    }

    private static Key key(UUID chunk, @Nullable ChunkOverlay overlay, AddedFields added) {
        return new Key(chunk, overlay == null ? null : overlay.id(), added);
    }

    private static long bytes(int headLength) {
        return (long) headLength + OVERHEAD_BYTES;
    }

    /** Returns the bytes of the heads. */
    public long usedBytes() {
        return heads.usedBytes();
    }
}
