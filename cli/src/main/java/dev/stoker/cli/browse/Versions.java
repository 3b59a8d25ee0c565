package dev.stoker.cli.browse;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** The versions that were looked at last. Thread-safe; its lock is this object. */
final class Versions {

    private static final int MOST = 4;

    private final Dataset dataset;
    private final Map<Long, BrowsedVersion> open = new LinkedHashMap<>(MOST, 0.75f, true);

    /** @param first a version that was opened before */
    Versions(Dataset dataset, Snapshot first) {
        this.dataset = dataset;
        open.put(first.version(), new BrowsedVersion(dataset, first));
    }

    Dataset dataset() {
        return dataset;
    }

    synchronized BrowsedVersion open(long version) throws IOException {
        BrowsedVersion known = open.get(version);
        if (known != null) {
            return known;
        }
        BrowsedVersion opened = new BrowsedVersion(dataset, dataset.snapshot(version));
        open.put(version, opened);
        if (open.size() > MOST) {
            open.remove(open.keySet().iterator().next());
        }
        return opened;
    }
}
