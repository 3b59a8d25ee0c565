package dev.stoker.metadata.explain;

/**
 * Where an epoch has a sample.
 *
 * @param epoch number of the epoch
 * @param batch number of the batch
 * @param index of the sample in the batch
 */
public record SamplePosition(long epoch, long batch, int index) {}
