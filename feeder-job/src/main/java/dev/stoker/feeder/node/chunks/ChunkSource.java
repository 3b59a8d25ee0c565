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

    /**
     * Says that the chunk will be needed, after those that were wanted before it; it is brought near in the background as far
     * as there is room. Returns at once.
     */
    default void want(ChunkFile chunk) {}

    /** Takes back one {@link #want}. */
    default void unwant(ChunkFile chunk) {}

    /**
     * Has the chunk placed in a tier with room, when there is nothing more urgent to read.
     *
     * @param need those with a smaller one go first
     */
    default void warm(ChunkFile chunk, long need) {}

    /** Bytes of chunks that are usefully wanted before they are needed; 0 if that makes nothing quicker. */
    default long lookAheadBytes() {
        return 0;
    }

    /** Whether held chunks take memory of this process. */
    boolean takesMemory();

    /** Whether held chunks may be files of this machine. */
    boolean hasFiles();

    /** Drops what is kept of the chunk, because it was found damaged; the next {@link #hold} starts anew. */
    void forget(ChunkFile chunk);
}
