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
 * @param added the fields that the version has beside those of dataset.json; none for a chunk that was just written. A
 *     chunk whose file lacks one of them has nulls
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
        @Nullable ChunkOverlay overlay,
        AddedFields added)
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
        this(id, split, rows, length, crc32c, headLength, headCrc32c, largestRow, null, AddedFields.NONE);
    }

    /** Returns the data on the chunk's own file, whatever its overlay and the version's added fields. */
    public ChunkSummary withoutOverlay() {
        return overlay == null && added.isEmpty()
                ? this
                : with((ChunkOverlay) null).with(AddedFields.NONE);
    }

    /** Returns the same chunk in a version with other added fields. */
    public ChunkSummary with(AddedFields others) {
        return new ChunkSummary(id, split, rows, length, crc32c, headLength, headCrc32c, largestRow, overlay, others);
    }

    /** Returns the same chunk with another overlay. */
    public ChunkSummary with(@Nullable ChunkOverlay other) {
        return new ChunkSummary(id, split, rows, length, crc32c, headLength, headCrc32c, largestRow, other, added);
    }
}
