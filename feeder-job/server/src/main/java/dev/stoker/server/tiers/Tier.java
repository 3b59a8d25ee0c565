package dev.stoker.server.tiers;

import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.ListedChunk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileLock;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * A place that keeps whole chunks, within its quota and until the feed ends. It does not know other tiers. Thread-safe.
 *
 * <p>A tier handles its own failures: it counts them, turns itself off, and reports that it does not have the chunk.
 */
interface Tier extends AutoCloseable {

    /** Returns quickly whether the tier has the chunk, checked or known to be good. */
    boolean has(ListedChunk chunk);

    /** Returns quickly whether the tier may have the chunk, so that {@link #hold} is worth a try. */
    boolean mayHave(ListedChunk chunk);

    /**
     * Holds the chunk's bytes if the tier has them. They are checked before the first use.
     *
     * @return empty if the tier does not have the chunk, or no longer has it
     */
    Optional<ChunkBytes> hold(ListedChunk chunk);

    /**
     * Copies a part of the chunk, in order to check it.
     *
     * @return whether the tier had the chunk; if not, the target may contain anything
     */
    boolean read(ListedChunk chunk, long offset, ByteBuffer target);

    /**
     * Reserves space for a chunk that the tier does not have. Returns false if there is no space. The caller must then
     * call {@link #place} or {@link #cancel}.
     */
    boolean reserve(ListedChunk chunk);

    /**
     * Prevents other processes that share the tier from loading the chunk, until the lock is released. Waits while
     * another process has the lock.
     */
    default Optional<FileLock> lock(ListedChunk chunk) {
        return Optional.empty();
    }

    /**
     * Places a chunk for which space was reserved. On failure the space is released.
     *
     * @param bytes checked bytes
     * @throws IOException if it cannot be placed
     */
    void place(ListedChunk chunk, ChunkBytes bytes) throws IOException;

    /**
     * Starts a chunk for which space was reserved, and whose bytes arrive in parts, so that they need no other memory.
     *
     * @return empty if the tier can only {@link #place} a chunk
     * @throws IOException if it cannot be placed; the space is released
     */
    default Optional<Arrival> receive(ListedChunk chunk) throws IOException {
        return Optional.empty();
    }

    /** Returns the bytes of chunks that the tier can still {@link #receive}. */
    default long roomToReceive() {
        return 0;
    }

    /** Releases space that was reserved for a chunk. */
    void cancel(ListedChunk chunk);

    /** Returns whether {@link #place} is so fast that it needs no separate thread. */
    boolean isInstant();

    /** Returns whether placed chunks are copies in files of this machine, so that their working memory is freed. */
    boolean hasFiles();

    /** Drops a chunk that was found damaged. */
    void forget(ListedChunk chunk);

    /** Drops chunks that were erased from their dataset, also if another process has placed them. */
    default void erase(Set<UUID> chunks) {}

    /** Returns the counts of the tier. */
    TierUse use();

    TierStatus status();

    /** Closes the tier at the end of the feed. */
    @Override
    void close();
}
