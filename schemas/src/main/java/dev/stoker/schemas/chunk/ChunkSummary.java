package dev.stoker.schemas.chunk;

import java.io.Serializable;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Contains the commit log's data on a finished chunk.
 *
 * @param id the chunk's id
 * @param split its split
 * @param rows number of samples
 * @param length bytes of the file
 * @param crc32c checksum of the file
 * @param headLength bytes before the first payload data buffer
 * @param headCrc32c checksum of these bytes
 * @param largestRow upper bound of the bytes of the largest row in a batch: payload, key, small fields and offsets
 * @param overlay the chunk's overlay in a version; null for none, and always null for a chunk that was just written
 */
public record ChunkSummary(
        UUID id,
        String split,
        int rows,
        long length,
        int crc32c,
        long headLength,
        int headCrc32c,
        long largestRow,
        @Nullable ChunkOverlay overlay)
        implements Serializable {
    private static final long serialVersionUID = 1;

    /** Describes a chunk without an overlay. */
    public ChunkSummary(
            UUID id,
            String split,
            int rows,
            long length,
            int crc32c,
            long headLength,
            int headCrc32c,
            long largestRow) {
        this(id, split, rows, length, crc32c, headLength, headCrc32c, largestRow, null);
    }

    /** Returns the data on the chunk's own file, whatever its overlay. */
    public ChunkSummary withoutOverlay() {
        return with(null);
    }

    /** Returns the same chunk with another overlay. */
    public ChunkSummary with(@Nullable ChunkOverlay other) {
        return new ChunkSummary(id, split, rows, length, crc32c, headLength, headCrc32c, largestRow, other);
    }
}
