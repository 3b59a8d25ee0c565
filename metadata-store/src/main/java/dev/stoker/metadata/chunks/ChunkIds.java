package dev.stoker.metadata.chunks;

import dev.stoker.schemas.chunk.ChunkNames;
import java.security.SecureRandom;
import java.util.UUID;

/**
 * Creates the ids of the chunks that one writer writes. The id determines the directory of a chunk. To create a
 * directory and make it durable takes about as long as to write a chunk, so several chunks in succession share one.
 * Thread-safe.
 */
public final class ChunkIds {
    /** Chunks in succession that share a directory. */
    static final int CHUNKS_PER_DIRECTORY = 16;

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final long DIRECTORY = 0xFF;

    /** Guarded by this. */
    private long directory;

    /** Guarded by this. */
    private int left;

    /** Returns the next id. */
    public UUID next(long nowMs) {
        UUID id = ChunkNames.newId(nowMs, RANDOM);
        return new UUID(id.getMostSignificantBits(), (id.getLeastSignificantBits() & ~DIRECTORY) | directory(id));
    }

    private synchronized long directory(UUID id) {
        if (left == 0) {
            directory = id.getLeastSignificantBits() & DIRECTORY;
            left = CHUNKS_PER_DIRECTORY;
        }
        left--;
        return directory;
    }
}
