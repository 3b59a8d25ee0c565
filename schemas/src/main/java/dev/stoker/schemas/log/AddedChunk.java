package dev.stoker.schemas.log;

import java.util.Objects;
import java.util.UUID;

/**
 * Describes a chunk that a version added.
 *
 * @param ordinal its permanent number in the dataset
 * @param id its UUIDv7
 * @param split the split of all its samples
 * @param rows number of rows, at least 1
 * @param length length of the file, in bytes
 * @param crc32c checksum of the whole file
 * @param headLength bytes before the first payload data buffer
 * @param headCrc32c checksum of these bytes
 * @param largestRow upper bound of the bytes of the largest row: payload fields, key and small fields
 */
public record AddedChunk(
        long ordinal,
        UUID id,
        String split,
        int rows,
        long length,
        int crc32c,
        long headLength,
        int headCrc32c,
        long largestRow) {

    public AddedChunk {
        Objects.requireNonNull(id, "id");
        if (ordinal < 0) {
            throw new IllegalArgumentException("Chunk " + id + ": negative ordinal " + ordinal);
        }
        if (split.isEmpty()) {
            throw new IllegalArgumentException("Chunk " + id + ": empty split name");
        }
        if (rows < 1) {
            throw new IllegalArgumentException("Chunk " + id + ": " + rows + " rows");
        }
        if (headLength < 1 || headLength > length || length > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "Chunk " + id + ": head of " + headLength + " bytes in a file of " + length + " bytes");
        }
        if (largestRow < 0 || largestRow > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("Chunk " + id + ": largest row of " + largestRow + " bytes");
        }
    }
}
