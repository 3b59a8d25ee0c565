package dev.stoker.feeder.node.tiers;

import dev.stoker.feeder.node.chunks.ChunkBytes;
import dev.stoker.feeder.node.chunks.ChunkFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileLock;
import java.util.Optional;

/**
 * A place that keeps whole chunks, within its quota and for as long as the feed lives. Knows no other tier. Thread-safe.
 *
 * <p>Its own failures are its own affair: it counts them, turns itself off, and says that it has not got the chunk.
 */
interface Tier extends AutoCloseable {

    /** Whether it has the chunk, as good as checked. Quick. */
    boolean has(ChunkFile chunk);

    /** Whether it may have the chunk, so that {@link #hold} is worth a look. Quick. */
    boolean mayHave(ChunkFile chunk);

    /**
     * Holds the chunk's bytes if it has them; they are checked before the first time.
     *
     * @return empty if it has not got the chunk, or has got it no more
     */
    Optional<ChunkBytes> hold(ChunkFile chunk);

    /**
     * Copies a part of the chunk, for checking.
     *
     * @return whether it had the chunk; if not, the target may hold anything
     */
    boolean read(ChunkFile chunk, long offset, ByteBuffer target);

    /** Takes space for a chunk that it has not got; false if there is none. Followed by {@link #place} or {@link #cancel}. */
    boolean reserve(ChunkFile chunk);

    /** Keeps other processes that share the tier from bringing the chunk as well, until it is released; waits while one does. */
    default Optional<FileLock> lock(ChunkFile chunk) {
        return Optional.empty();
    }

    /**
     * Places a chunk that space was taken for. On failure the space is free again.
     *
     * @param bytes checked
     * @throws IOException if it cannot be placed
     */
    void place(ChunkFile chunk, ChunkBytes bytes) throws IOException;

    /**
     * Begins a chunk that space was taken for, and whose bytes come part by part, so that they need be nowhere else before.
     *
     * @return empty if it can only {@link #place} a chunk
     * @throws IOException if it cannot be placed; the space is free again
     */
    default Optional<Arrival> receive(ChunkFile chunk) throws IOException {
        return Optional.empty();
    }

    /** Bytes of chunks that it may still {@link #receive}. */
    default long roomToReceive() {
        return 0;
    }

    /** Gives back space that was taken for a chunk. */
    void cancel(ChunkFile chunk);

    /** Whether {@link #place} takes no time, so that it needs no thread of its own. */
    boolean isInstant();

    /** Whether what is placed is a copy in a file of this machine, and goes from working memory. */
    boolean hasFiles();

    /** Drops a chunk that was found damaged. */
    void forget(ChunkFile chunk);

    /** What is counted. */
    TierUse use();

    TierStatus status();

    /** The feed ends. */
    @Override
    void close();
}
