package dev.stoker.metadata.history;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.update.SampleUpdate;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * What a version changed.
 *
 * @param added samples that it added; a compaction adds none
 * @param removed samples of the version before that it does not have
 * @param updated samples that got other values; empty if the entry was rebuilt from files, which do not tell
 */
public record VersionChange(long version, LogEntry entry, long added, long removed, Optional<Long> updated) {

    /**
     * Returns the changes of the versions from {@code first} to {@code last}, the newest first.
     *
     * @param newest the newest version of the dataset
     */
    public static List<VersionChange> of(Dataset dataset, long first, long last, long newest) throws IOException {
        List<VersionChange> changes = new ArrayList<>();
        if (first > last) {
            return changes;
        }
        ChunkTable table = first == 1
                ? ChunkTable.empty(dataset.info())
                : dataset.anySnapshot(first - 1).table();
        for (long version = first; version <= last; version++) {
            LogEntry entry = dataset.entry(version, newest);
            long before = table.liveRows();
            table = table.with(entry);
            long added = entry.addedSamples();
            changes.add(new VersionChange(version, entry, added, before + added - table.liveRows(), updated(entry)));
        }
        Collections.reverse(changes);
        return changes;
    }

    private static Optional<Long> updated(LogEntry entry) {
        String count = entry.properties().get(SampleUpdate.SAMPLES);
        if (count == null || !count.matches("[0-9]{1,18}")) {
            return entry.updated().isEmpty() ? Optional.of(0L) : Optional.empty();
        }
        return Optional.of(Long.parseLong(count));
    }
}
