package dev.stoker.schemas.chunk;

import java.io.Serializable;
import java.util.Objects;
import java.util.UUID;

/**
 * Refers to the overlay of a chunk: the file with the values of small fields that a version has instead of the chunk's
 * own values.
 *
 * @param id the overlay's id, a UUIDv7
 * @param length bytes of the file
 * @param crc32c checksum of the file
 */
public record ChunkOverlay(UUID id, long length, int crc32c) implements Serializable {
    private static final long serialVersionUID = 1;

    public ChunkOverlay {
        Objects.requireNonNull(id, "id");
        if (length < 1 || length > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("Overlay " + id + ": a file of " + length + " bytes");
        }
    }
}
