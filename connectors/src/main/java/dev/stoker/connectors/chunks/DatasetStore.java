package dev.stoker.connectors.chunks;

import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;

/** Opens the store of a dataset, wherever a job needs it. Travels with the job graph. */
@FunctionalInterface
public interface DatasetStore extends Serializable {

    /** Directories of file systems that are mounted on every machine of the job. */
    DatasetStore LOCAL = target -> new LocalObjectStore(Path.of(target));

    /** Opens the store; the caller closes it. */
    ObjectStore open(String target) throws IOException;
}
