package dev.stoker.ingest.spec;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.metadata.DatasetExistsException;
import dev.stoker.schemas.dataset.DatasetInfo;
import java.io.IOException;
import java.util.Optional;

/**
 * The state of the dataset on which an ingest builds.
 *
 * @param isNew whether the dataset does not exist
 * @param version its newest version; 0 for none
 * @param before the description that an ingest without success has left with other fields, if there is one
 */
public record TargetBase(boolean isNew, long version, Optional<DatasetInfo> before) {

    /** Returns the base of an ingest into a new dataset. */
    public static TargetBase none() {
        return new TargetBase(true, 0, Optional.empty());
    }

    /** Returns the base of an ingest into a dataset whose description stays. */
    public static TargetBase of(long version) {
        return new TargetBase(false, version, Optional.empty());
    }

    /**
     * Creates the dataset if it does not exist, so that its chunks belong to a dataset.
     *
     * @param info describes the dataset with the fields that the ingest packs
     * @param ingest id of the ingest
     * @param process the packing process; empty if there are several
     * @return false if another writer was faster; its dataset can be used if the fields match
     */
    public boolean create(String target, DatasetStore stores, DatasetInfo info, String ingest, String process)
            throws IOException {
        if (before.isPresent()) {
            TargetDataset.begin(target, stores, before.get(), info, ingest, process);
        }
        if (!isNew) {
            return true;
        }
        try {
            TargetDataset.create(target, stores, info);
            return true;
        } catch (DatasetExistsException e) {
            return false;
        }
    }
}
