package dev.stoker.metadata.index.run;

import dev.stoker.schemas.index.SampleRun;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** Opens runs of a store. Those on local disks are mapped; others are read part by part. */
final class StoredRun {

    private StoredRun() {}

    /** Opens a run. */
    static SampleRun open(ObjectStore store, IndexRange range) throws IOException {
        String name = range.name();
        Optional<Path> local = store.localPath(name);
        if (local.isPresent()) {
            // Throws the exception of an absent object.
            store.length(name);
            return SampleRun.open(MappedRun.open(local.get()));
        }
        return SampleRun.open(new RunObject(store, name));
    }
}
