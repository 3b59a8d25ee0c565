package dev.stoker.ingest.pack;

import dev.stoker.connectors.chunks.DatasetStore;
import java.io.Serializable;

/**
 * Opens the files and the store of an ingest.
 *
 * @param files opens the samples of a tree on this machine; other trees are opened through their own file system
 * @param store the dataset
 */
public record Access(SampleFiles files, DatasetStore store) implements Serializable {

    private static final long serialVersionUID = 1;

    /** Opens both by their locations. */
    public static final Access BY_LOCATION = new Access(SampleFiles.LOCAL, DatasetStore.BY_LOCATION);
}
