package dev.stoker.metadata.explain;

/**
 * A sample of a batch.
 *
 * @param key its key
 * @param ordinal ordinal of its chunk
 * @param row its row in the chunk
 * @param repeated whether it is also delivered elsewhere in the epoch, and only fills the batch
 */
public record BatchSample(String key, long ordinal, int row, boolean repeated) {}
