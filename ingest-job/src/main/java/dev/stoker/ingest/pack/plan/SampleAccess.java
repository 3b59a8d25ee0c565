package dev.stoker.ingest.pack.plan;

import dev.stoker.connectors.dataset.DatasetStore;
import java.io.Serializable;

/**
 * Opens the files and the store of an ingest.
 *
 * @param files opens the samples of a tree on this machine; other trees are opened through their own file system
 * @param store the dataset
 */
public record SampleAccess(SampleFiles files, DatasetStore store) implements Serializable {

    private static final long serialVersionUID = 1;

    /** Opens both by their locations. */
    public static final SampleAccess BY_LOCATION = new SampleAccess(SampleFiles.LOCAL, DatasetStore.BY_LOCATION);
}
