package dev.stoker.server.chunks;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The chunks of one dataset. Thread-safe. */
public interface ChunkSource {
    /**
     * Fills {@code target} with bytes of the chunk, starting at {@code offset}, in memory of the caller. The bytes are
     * not checked.
     *
     * @throws IOException if the chunk is absent, shorter, or unreadable
     */
    void read(ListedChunk chunk, long offset, ByteBuffer target) throws IOException;

    /**
     * Returns whether the chunk is only at a far origin, and would not be kept if it was read. A reader of a few rows
     * then reads parts of it with {@link #readPart}.
     */
    default boolean isFar(ListedChunk chunk) {
        return false;
    }

    /**
     * Reads as {@link #read} does, but never reads more of a far chunk than these bytes.
     *
     * @throws IOException if the chunk is absent, shorter, or unreadable
     */
    default void readPart(ListedChunk chunk, long offset, ByteBuffer target) throws IOException {
        read(chunk, offset, target);
    }

    /**
     * Holds the chunk's bytes for gathering writes.
     *
     * @throws IOException if the chunk is absent, of another length, or cannot be held
     */
    ChunkBytes hold(ListedChunk chunk) throws IOException;

    /**
     * Announces that the chunk will be needed after all chunks that were wanted before it. The source loads it in the
     * background if there is room. Returns at once.
     */
    default void want(ListedChunk chunk) {}

    /**
     * Announces that the chunk is needed before all chunks that are only wanted. Memory that a waiting reader needs is
     * taken from such chunks last. Otherwise the same as {@link #want}.
     */
    default void use(ListedChunk chunk) {}

    /** Returns whether the chunk can be read without a request to a far origin. */
    default boolean isNear(ListedChunk chunk) {
        return true;
    }

    /** Reverts one {@link #want} or {@link #use}. */
    default void unwant(ListedChunk chunk) {}

    /**
     * Places the chunk in a tier with room when no more urgent reads are waiting.
     *
     * @param need the priority; chunks with a smaller value are placed first
     */
    default void warm(ListedChunk chunk, long need) {}

    /** Returns how many bytes of chunks should be wanted ahead of their use; 0 if that makes nothing faster. */
    default long lookAheadBytes() {
        return 0;
    }

    /** Returns whether held chunks take memory of this process. */
    boolean takesMemory();

    /** Returns whether held chunks may be files of this machine. */
    boolean hasFiles();

    /** Drops the cached copies of the chunk, which was found damaged. The next {@link #hold} loads it again. */
    void forget(ListedChunk chunk);
}
