package dev.stoker.sql.catalog;

import dev.stoker.metadata.Dataset;
import java.io.IOException;
import java.time.Instant;
import org.apache.flink.table.catalog.exceptions.CatalogException;

/** Finds versions by the time of their commit. Stateless. */
final class VersionsByTime {

    private VersionsByTime() {}

    /**
     * Returns the newest version that was committed at a time or before. Commit times come from the clocks of the
     * writers. The search assumes that they ascend.
     *
     * @param timestamp in milliseconds since 1970
     */
    static long find(Dataset dataset, long timestamp) throws IOException {
        long newest = dataset.latestVersion();
        if (newest == 0) {
            // Throws: there is no version.
            dataset.snapshot();
        }
        long low = 0;
        long high = newest;
        while (low < high) {
            long middle = low + (high - low + 1) / 2;
            if (dataset.entry(middle, newest).committedMs() <= timestamp) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        if (low == 0) {
            throw new CatalogException("The dataset " + dataset.where() + " has no version at "
                    + Instant.ofEpochMilli(timestamp) + "; version 1 was committed at "
                    + Instant.ofEpochMilli(dataset.entry(1, newest).committedMs()));
        }
        return low;
    }
}
