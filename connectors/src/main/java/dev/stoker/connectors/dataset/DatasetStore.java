package dev.stoker.connectors.dataset;

import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.io.Serializable;

/** Opens the store of a dataset in any process of a job. Serialized with the job graph. */
@FunctionalInterface
public interface DatasetStore extends Serializable {

    /** Opens directories that every machine of the job has mounted, and other file systems by URI. */
    DatasetStore BY_LOCATION = Stores::open;

    /** Opens the store; the caller closes it. */
    ObjectStore open(String target) throws IOException;
}
