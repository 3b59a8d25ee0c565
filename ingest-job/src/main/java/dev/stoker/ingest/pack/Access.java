package dev.stoker.ingest.pack;

import dev.stoker.connectors.chunks.DatasetStore;
import java.io.Serializable;

/**
 * How an ingest gets at what it reads and writes.
 *
 * @param files the samples of a tree on this machine; those of other trees come from their own file system
 * @param store the dataset
 */
public record Access(SampleFiles files, DatasetStore store) implements Serializable {

    private static final long serialVersionUID = 1;

    /** By their locations. */
    public static final Access BY_LOCATION = new Access(SampleFiles.LOCAL, DatasetStore.BY_LOCATION);
}
