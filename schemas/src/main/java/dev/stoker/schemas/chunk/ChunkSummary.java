package dev.stoker.schemas.chunk;

import java.util.UUID;

/**
 * What the commit log holds of a finished chunk.
 *
 * @param id the chunk's id
 * @param split its split
 * @param rows samples in it
 * @param length bytes of the file
 * @param crc32c of the file
 * @param headLength bytes before the first payload data buffer
 * @param headCrc32c of those
 * @param largestRow bytes that the longest row takes in a batch at most: payload, key, small fields and offsets
 */
public record ChunkSummary(
        UUID id, String split, int rows, long length, int crc32c, long headLength, int headCrc32c, long largestRow) {}
