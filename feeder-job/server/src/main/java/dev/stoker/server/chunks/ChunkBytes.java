package dev.stoker.server.chunks;

import java.nio.ByteBuffer;
import java.util.Optional;

/** A hold on one chunk's bytes. The bytes stay where they are until {@link #close}; no slice may be used after that. */
public interface ChunkBytes extends AutoCloseable {
    /** The whole file from index 0 on, for slices that go into gathering writes; the caller never reads it itself. */
    ByteBuffer bytes();

    /** The file that the bytes are mapped from, if they are. */
    default Optional<LocalFile> file() {
        return Optional.empty();
    }

    /** Lets go; once. Any thread. */
    @Override
    void close();
}
