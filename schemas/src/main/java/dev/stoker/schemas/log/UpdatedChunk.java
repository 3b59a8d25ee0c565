package dev.stoker.schemas.log;

import dev.stoker.schemas.chunk.ChunkOverlay;
import java.util.Objects;

/**
 * Describes a chunk that has other values of small fields from a version on.
 *
 * @param ordinal the chunk's permanent number in the dataset
 * @param overlay the file with the values; it replaces an earlier overlay of the chunk
 * @param largestRow upper bound of the bytes of the largest row with these values: payload fields, key and small fields
 */
public record UpdatedChunk(long ordinal, ChunkOverlay overlay, long largestRow) {
    public UpdatedChunk {
        Objects.requireNonNull(overlay, "overlay");
        if (ordinal < 0) {
            throw new IllegalArgumentException("Overlay " + overlay.id() + ": negative ordinal " + ordinal);
        }
        if (largestRow < 0 || largestRow > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("Overlay " + overlay.id() + ": largest row of " + largestRow + " bytes");
        }
    }
}
