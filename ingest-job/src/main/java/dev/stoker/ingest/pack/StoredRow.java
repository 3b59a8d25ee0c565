package dev.stoker.ingest.pack;

/**
 * The place of a sample that the dataset has.
 *
 * @param ordinal of its chunk
 * @param row in the chunk
 */
record StoredRow(long ordinal, int row) {}
