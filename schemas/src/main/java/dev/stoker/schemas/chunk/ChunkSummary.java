package dev.stoker.schemas.chunk;

import java.io.Serializable;
import java.util.UUID;

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
 */
public record ChunkSummary(
        UUID id, String split, int rows, long length, int crc32c, long headLength, int headCrc32c, long largestRow)
        implements Serializable {
    private static final long serialVersionUID = 1;
}
