package dev.stoker.export.task;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.schemas.path.DirectoryPaths;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The keys of a version. Opens the sample index for the first key that is asked for. For one thread. */
final class ExportedKeys implements DirectoryPaths.Samples {

    private final Dataset dataset;
    private final Snapshot snapshot;
    private @Nullable SampleIndex index;

    ExportedKeys(Dataset dataset, Snapshot snapshot) {
        this.dataset = dataset;
        this.snapshot = snapshot;
    }

    @Override
    public boolean has(String key) throws IOException {
        SampleIndex opened = index;
        if (opened == null) {
            opened = SampleIndex.open(dataset, snapshot);
            index = opened;
        }
        return opened.stat(key).isPresent();
    }
}
