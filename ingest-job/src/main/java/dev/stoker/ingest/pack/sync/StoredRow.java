package dev.stoker.ingest.pack.sync;

/**
 * The place of a sample that the dataset has.
 *
 * @param ordinal of its chunk
 * @param row in the chunk
 */
public record StoredRow(long ordinal, int row) {}
