package dev.stoker.schemas.dataset;

import java.util.Objects;
import java.util.UUID;

/**
 * A chunk file that an erasure deletes.
 *
 * @param id id of the chunk
 * @param length length of the file, in bytes
 * @param crc32c checksum of the file
 */
public record ErasedChunk(UUID id, long length, int crc32c) {
    public ErasedChunk {
        Objects.requireNonNull(id, "id");
        if (length < 0) {
            throw new IllegalArgumentException("Chunk " + id + ": length " + length);
        }
    }
}
