package dev.stoker.feeder.node.chunks;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Chunks of one dataset. Thread-safe. */
public interface ChunkSource {
    /**
     * Fills {@code target} with the chunk's bytes from {@code offset} on, in memory of the caller; the bytes are as good as the
     * place they come from and not yet checked.
     *
     * @throws IOException if the chunk is absent, shorter, or unreadable
     */
    void read(ChunkFile chunk, long offset, ByteBuffer target) throws IOException;

    /**
     * Holds the chunk's bytes for gathering writes.
     *
     * @throws IOException if the chunk is absent, of another length, or cannot be held
     */
    ChunkBytes hold(ChunkFile chunk) throws IOException;

    /** Makes the next {@link #hold} quick if it would not be; returns when that is done. */
    void fetchAhead(ChunkFile chunk) throws IOException;

    /** Whether held chunks take working memory. */
    boolean takesMemory();

    /** Drops what is kept of the chunk, because it was found damaged; the next {@link #hold} starts anew. */
    void forget(ChunkFile chunk);
}
