package dev.stoker.metadata;

import java.io.IOException;
import java.time.Instant;

/** Finds versions by the time of their commit. Stateless. */
public final class VersionTimes {

    private VersionTimes() {}

    /**
     * Returns the newest version that was committed at a time or before. Commit times come from the clocks of the
     * writers. The search assumes that they ascend. It reads as many log entries as the number of versions has bits.
     *
     * @throws UnknownVersionException if there is none
     */
    public static long find(Dataset dataset, Instant time) throws IOException {
        long newest = dataset.latestVersion();
        if (newest == 0) {
            throw new UnknownVersionException(dataset.where(), 0, 0);
        }
        long found = search(dataset, time, newest);
        if (found == 0) {
            throw new UnknownVersionException(
                    dataset.where(),
                    time,
                    Instant.ofEpochMilli(dataset.entry(1, newest).committedMs()));
        }
        return found;
    }

    /** Returns the newest version that was committed at a time or before; 0 if there is none. */
    static long newestAt(Dataset dataset, Instant time) throws IOException {
        return search(dataset, time, dataset.latestVersion());
    }

    private static long search(Dataset dataset, Instant time, long newest) throws IOException {
        long low = 0;
        long high = newest;
        while (low < high) {
            long middle = low + (high - low + 1) / 2;
            if (dataset.entry(middle, newest).committedMs() <= time.toEpochMilli()) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }
}
