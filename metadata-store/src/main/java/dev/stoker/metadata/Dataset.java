package dev.stoker.metadata;

import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.ExpiredVersions;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.errors.UnknownOutcomeException;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Provides access to a dataset in a store: its description and its versions. Opening a version reads the log and chunk
 * tables, but no sample. Thread-safe. Immutable except for commits of other writers. The caller closes the store.
 */
public final class Dataset {

    private static final Logger LOG = LoggerFactory.getLogger(Dataset.class);

    private final ObjectStore store;
    private final DatasetInfo info;
    private final VersionLog log;

    public Dataset(ObjectStore store, DatasetInfo info) {
        this.store = store;
        this.info = info;
        this.log = new VersionLog(store, info);
    }

    /**
     * Creates a dataset without versions.
     *
     * @throws DatasetExistsException if it already exists
     * @throws StokerException if it exists, but its dataset.json is lost
     */
    public static Dataset create(ObjectStore store, DatasetInfo info) throws IOException {
        if (find(store).isPresent() || !createDescription(store, info)) {
            throw new DatasetExistsException(where(store));
        }
        Dataset dataset = new Dataset(store, info);
        dataset.copyDescription();
        return dataset;
    }

    /** Returns whether this call created it, even if the store's reply was lost. */
    private static boolean createDescription(ObjectStore store, DatasetInfo info) throws IOException {
        try {
            return store.createIfAbsent(DatasetLayout.DATASET_JSON, info.encode());
        } catch (UnknownOutcomeException e) {
            Optional<Dataset> found = read(store);
            if (found.isEmpty()) {
                throw e;
            }
            return found.get().info().equals(info);
        }
    }

    /** Returns whether there are files that only a dataset has. */
    private static boolean hasContent(ObjectStore store) throws IOException {
        for (String prefix : List.of(DatasetLayout.LOG, DatasetLayout.INGESTS, DatasetLayout.CHUNKS)) {
            try (ObjectIterator objects = store.list(prefix)) {
                if (objects.hasNext()) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Replaces the description of a dataset without a version by another one, which has another id. The caller holds
     * the only lease. A writer of the old description that took its lease in the meantime finds the other id when it
     * commits, and fails.
     *
     * @throws DatasetExistsException if the dataset has a version
     */
    public void begin(DatasetInfo other) throws IOException {
        if (latestVersion() > 0) {
            throw new DatasetExistsException(where());
        }
        // Without a copy, the first commit writes it. A copy of the old description would be wrong.
        store.delete(DatasetLayout.DATASET_COPY);
        store.replace(DatasetLayout.DATASET_JSON, other.encode());
        if (latestVersion() > 0) {
            store.replace(DatasetLayout.DATASET_JSON, info.encode());
            throw new DatasetExistsException(where());
        }
        new Dataset(store, other).copyDescription();
    }

    /** Writes the second copy of dataset.json if it is missing. After a failure, the first commit writes it. */
    public void copyDescription() {
        try {
            store.createIfAbsent(DatasetLayout.DATASET_COPY, info.encode());
        } catch (IOException | RuntimeException e) {
            LOG.warn("The second copy of dataset.json was not written; the first commit writes it: {}", e.toString());
        }
    }

    /**
     * Opens the dataset.
     *
     * @throws NotADatasetException if it does not exist
     * @throws StokerException if it exists, but its dataset.json is lost
     * @throws dev.stoker.schemas.errors.FormatTooNewException if a newer Stoker created it
     * @throws CorruptDataException if dataset.json is damaged
     */
    public static Dataset open(ObjectStore store) throws IOException {
        return find(store).orElseThrow(() -> new NotADatasetException(where(store)));
    }

    /**
     * Opens the dataset if it exists.
     *
     * @throws StokerException if it exists, but its dataset.json is lost
     */
    public static Optional<Dataset> find(ObjectStore store) throws IOException {
        Optional<Dataset> found = read(store);
        if (found.isEmpty() && hasContent(store)) {
            // Another process may have created it in the meantime.
            found = read(store);
            if (found.isEmpty()) {
                throw new StokerException(where(store) + " has the log or the chunks of a dataset, but no "
                        + DatasetLayout.DATASET_JSON + "; restore it with `stoker recover "
                        + ShellText.word(where(store)) + "`");
            }
        }
        return found;
    }

    private static Optional<Dataset> read(ObjectStore store) throws IOException {
        byte[] content;
        try {
            content = store.readAll(DatasetLayout.DATASET_JSON, DatasetInfo.MAX_BYTES);
        } catch (NoSuchObjectException e) {
            return Optional.empty();
        }
        try {
            DatasetInfo info = DatasetInfo.decode(content, store.describe(DatasetLayout.DATASET_JSON));
            return Optional.of(new Dataset(store, info));
        } catch (CorruptDataException e) {
            throw VersionLog.recoverable(e, where(store));
        }
    }

    public ObjectStore store() {
        return store;
    }

    public DatasetInfo info() {
        return info;
    }

    /** Returns the location of the dataset, as a user would type it. */
    public String where() {
        return where(store);
    }

    /**
     * Checks that the log has not lost its newest entry.
     *
     * @throws dev.stoker.schemas.errors.CorruptDataException if it has
     */
    public void requireNewest() throws IOException {
        log.requireNewest(latestVersion());
    }

    /** Returns the number of the newest version; 0 if there is none. */
    public long latestVersion() throws IOException {
        return log.newestVersion();
    }

    /**
     * Returns the newest version.
     *
     * @throws UnknownVersionException if there is none
     */
    public Snapshot snapshot() throws IOException {
        Snapshot newest = latest();
        if (newest.version() == 0) {
            throw new UnknownVersionException(where(), 0, 0);
        }
        return newest;
    }

    /**
     * Returns a version.
     *
     * @throws UnknownVersionException if there is no such version
     * @throws ExpiredVersionException if it was expired, and no tag names it and no running feed uses it
     */
    public Snapshot snapshot(long version) throws IOException {
        Snapshot snapshot = anySnapshot(version);
        Optional<Snapshot> newest = expiring(version);
        if (newest.isPresent() && !ProtectedVersions.isProtected(this, version)) {
            throw expired(version, newest.get());
        }
        return snapshot;
    }

    /**
     * Returns a version even if it was expired: files of its chunks may be gone.
     *
     * @throws UnknownVersionException if there is no such version
     */
    public Snapshot anySnapshot(long version) throws IOException {
        return new Snapshot(info, log.table(version));
    }

    /**
     * Checks that a version was not expired, unless a tag names it.
     *
     * @throws ExpiredVersionException if it was
     */
    void requireNotExpired(long version) throws IOException {
        Optional<Snapshot> newest = expiring(version);
        if (newest.isPresent() && !ProtectedVersions.isTagged(this, version)) {
            throw expired(version, newest.get());
        }
    }

    /**
     * Checks that a version was not expired, whether or not a tag names it.
     *
     * @throws ExpiredVersionException if it was
     */
    void requireNeverExpired(long version) throws IOException {
        Optional<Snapshot> newest = expiring(version);
        if (newest.isPresent()) {
            throw expired(version, newest.get());
        }
    }

    /** Returns the newest version if another version was expired up to it. */
    private Optional<Snapshot> expiring(long version) throws IOException {
        // Without the sign, no later entry is read. The newest version is never expired.
        if (!ExpirySign.isThere(store) || version == latestVersion()) {
            return Optional.empty();
        }
        return Optional.of(latest()).filter(newest -> newest.table().expired().contains(version));
    }

    private ExpiredVersionException expired(long version, Snapshot newest) {
        ExpiredVersions all = newest.table().expired();
        return new ExpiredVersionException(where(), version, all.by(version).orElseThrow(), all.oldestKept());
    }

    /** Returns the newest version, or version 0, which has no samples. */
    public Snapshot latest() throws IOException {
        return new Snapshot(info, log.newestTable());
    }

    /** Returns the log entry of a version. */
    public LogEntry entry(long version) throws IOException {
        long newest = latestVersion();
        if (version < 1 || version > newest) {
            throw new UnknownVersionException(where(), version, newest);
        }
        return log.entry(version);
    }

    /**
     * Returns the log entry of a version without reading the others.
     *
     * @param newest an existing version that is not less than {@code version}
     */
    public LogEntry entry(long version, long newest) throws IOException {
        if (version < 1 || version > newest) {
            throw new UnknownVersionException(where(), version, newest);
        }
        return log.entry(version);
    }

    public VersionLog log() {
        return log;
    }

    /** Returns version 0. */
    public Snapshot nothing() {
        return new Snapshot(info, ChunkTable.empty(info));
    }

    public static String where(ObjectStore store) {
        String json = store.describe(DatasetLayout.DATASET_JSON);
        return json.substring(0, json.length() - DatasetLayout.DATASET_JSON.length() - 1);
    }
}
