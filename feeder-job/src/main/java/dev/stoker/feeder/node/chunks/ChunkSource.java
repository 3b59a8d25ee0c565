package dev.stoker.feeder.node.chunks;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Chunks of one dataset. Thread-safe. */
public interface ChunkSource extends AutoCloseable {
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

    /** Drops what is kept of the chunk, because it was found damaged; the next {@link #hold} starts anew. */
    void forget(ChunkFile chunk);

    /** Releases everything that is not held; what is held is released with its last hold. */
    @Override
    void close();
}
