package dev.stoker.ingest.pack;

import dev.stoker.connectors.chunks.DatasetStore;
import java.io.Serializable;

/**
 * How an ingest gets at what it reads and writes.
 *
 * @param files the samples
 * @param store the dataset
 */
public record Access(SampleFiles files, DatasetStore store) implements Serializable {

    private static final long serialVersionUID = 1;

    /** File systems that are mounted on every machine of the job. */
    public static final Access LOCAL = new Access(SampleFiles.LOCAL, DatasetStore.LOCAL);
}
