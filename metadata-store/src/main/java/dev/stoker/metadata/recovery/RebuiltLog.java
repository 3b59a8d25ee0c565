package dev.stoker.metadata.recovery;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.NotADatasetException;
import dev.stoker.metadata.VersionLog;
import dev.stoker.metadata.VersionSign;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.StoreErrors;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * The new log of a dataset that has lost its log. Only creates files; never deletes or replaces one. An interrupted
 * publication can be repeated with the same entries. Not thread-safe.
 */
public final class RebuiltLog {

    /** Begins the ingest ids of the entries. */
    public static final String INGEST = "rebuild-";

    private final ObjectStore store;
    private final DatasetInfo info;
    private final List<String> notes;
    private final RecoveryPlan description;

    private RebuiltLog(ObjectStore store, DatasetInfo info, List<String> notes, RecoveryPlan description) {
        this.store = store;
        this.info = info;
        this.notes = notes;
        this.description = description;
    }

    /**
     * Prepares a log. Writes nothing.
     *
     * @throws NotADatasetException if there are no files of a dataset
     * @throws StokerException if a log exists, or if the dataset's description is damaged
     */
    public static RebuiltLog of(ObjectStore store) throws IOException {
        requireNone(store);
        LostDescription lost = new LostDescription(store);
        DatasetInfo info = lost.find();
        RecoveryPlan description = new RecoveryPlan(store, lost.damaged(), List.of(), lost.writes(), lost.notes());
        if (description.isReplacing()) {
            throw new CorruptDataException(store.describe(DatasetLayout.DATASET_JSON)
                    + " or its copy is damaged; move it away and rebuild again");
        }
        return new RebuiltLog(store, info, List.copyOf(lost.notes()), description);
    }

    /** Other entries, and files that refer to lost versions, would be wrong beside the new log. */
    private static void requireNone(ObjectStore store) throws IOException {
        for (String prefix : List.of(
                DatasetLayout.LOG,
                DatasetLayout.INGESTS,
                DatasetLayout.VERSIONS,
                DatasetLayout.TABLES,
                DatasetLayout.TAGS,
                DatasetLayout.USES,
                DatasetLayout.EXPIRED)) {
            try (ObjectIterator objects = store.list(prefix)) {
                while (objects.hasNext()) {
                    String name = objects.next().name();
                    if (!isOfInterrupted(store, name)) {
                        throw new StokerException(store.describe(name)
                                + " exists, so the log is not lost as a whole; repair it with stoker recover, or move"
                                + " _stoker away to rebuild the dataset without its history");
                    }
                }
            }
        }
    }

    /** Returns whether a file is a log entry of a rebuild that was interrupted before it wrote version 1. */
    private static boolean isOfInterrupted(ObjectStore store, String name) throws IOException {
        if (!name.startsWith(DatasetLayout.LOG) || name.equals(DatasetLayout.logEntry(1))) {
            return false;
        }
        try {
            LogEntry entry = LogEntry.decode(store.readAll(name, VersionLog.MAX_ENTRY_BYTES), store.describe(name));
            return entry.ingest().startsWith(INGEST);
        } catch (StokerException e) {
            StoreErrors.rethrow(e);
            return false;
        }
    }

    /** Returns the description of the dataset. */
    public DatasetInfo info() {
        return info;
    }

    /** Returns the dataset, read through a store that may keep some of its files elsewhere. */
    public Dataset in(ObjectStore other) {
        return new Dataset(other, info);
    }

    /** Returns what could not be restored of the description. */
    public List<String> notes() {
        return notes;
    }

    /** Returns the ingests whose leases say that they have not committed. */
    public Set<String> leased() throws IOException {
        return new Leases(new Dataset(store, info)).all().keySet();
    }

    /**
     * Writes the log. The dataset has no version until the entry of version 1 exists, which is written last.
     *
     * @param entries of the versions from 1 on; equal for equal chunks
     * @param table chunk table of the last one
     * @throws CorruptDataException if another process has written to the log
     */
    public void publish(List<LogEntry> entries, ChunkTable table) throws IOException {
        description.apply();
        for (int i = entries.size() - 1; i >= 0; i--) {
            create(
                    DatasetLayout.logEntry(entries.get(i).version()),
                    entries.get(i).encode());
        }
        for (LogEntry entry : entries) {
            create(DatasetLayout.versionSign(entry.version()), VersionSign.content(entry.ingest()));
            create(DatasetLayout.ingestCopy(entry.ingest()), entry.encode());
        }
        create(DatasetLayout.table(table.version()), table.encode());
    }

    private void create(String name, byte[] content) throws IOException {
        if (!store.createIfAbsent(name, content)
                && !Arrays.equals(store.readAll(name, VersionLog.MAX_ENTRY_BYTES), content)) {
            throw new CorruptDataException(store.describe(name)
                    + " was written by someone else, or chunks have changed since an interrupted rebuild; move"
                    + " _stoker away and rebuild again");
        }
    }
}
