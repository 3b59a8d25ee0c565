package dev.stoker.connectors.dataset.source.split;

import dev.stoker.schemas.chunk.ChunkSummary;

/**
 * Describes a chunk to read.
 *
 * @param ordinal the chunk's permanent number in the dataset
 * @param summary the log's data on its file
 * @param removedRows rows that are not part of the version, ascending
 */
public record SourceChunk(long ordinal, ChunkSummary summary, int[] removedRows) {}
