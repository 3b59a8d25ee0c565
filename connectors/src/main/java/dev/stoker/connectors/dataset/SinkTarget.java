package dev.stoker.connectors.dataset;

import java.io.Serializable;

/**
 * Describes the dataset that a sink writes.
 *
 * @param run the ingest and its effect
 * @param description the dataset's description in the form of {@code dataset.json}. The first writer creates a dataset
 *     that does not exist
 * @param split the split of samples whose record names no other
 * @param chunkSizeBytes the length at which a chunk is written
 * @param keys the origin of the keys
 */
public record SinkTarget(IngestRun run, byte[] description, String split, int chunkSizeBytes, SampleKeys keys)
        implements Serializable {
    private static final long serialVersionUID = 1;
}
