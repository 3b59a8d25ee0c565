package dev.stoker.schemas.batch;

import dev.stoker.schemas.chunk.ChunkHead;
import java.nio.ByteBuffer;

/**
 * A chunk that rows are taken from.
 *
 * @param head its checked head
 * @param bytes the file, from index {@code bytesAt} of the file on; only sliced, never read
 * @param bytesAt where in the file {@code bytes} begins at its index 0; 0 for a mapped file
 * @param classIds per field of the dataset: chunk-local id to version id for a categorical field, else null
 */
public record BatchChunk(ChunkHead head, ByteBuffer bytes, int bytesAt, int[][] classIds) {}
