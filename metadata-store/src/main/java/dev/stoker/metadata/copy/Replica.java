package dev.stoker.metadata.copy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.ExpirySign;
import dev.stoker.metadata.NotADatasetException;
import dev.stoker.metadata.TablePolicy;
import dev.stoker.metadata.VersionSign;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.UnknownOutcomeException;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The copy of a dataset in another store. Writes the description, log entries, signs and second copies of the source
 * without a change. Nothing is written twice, so any number of copies may run at the same time. Thread-safe.
 */
public final class Replica {

    private static final int READ_BACKS = 5;

    private final Dataset source;
    private final Dataset dataset;
    private final ObjectStore store;

    private Replica(Dataset source, Dataset dataset) {
        this.source = source;
        this.dataset = dataset;
        this.store = dataset.store();
    }

    /**
     * Opens the copy of a dataset, if it exists.
     *
     * @throws CopyRefusedException if the store has another dataset
     */
    public static Optional<Replica> find(Dataset source, ObjectStore store) throws IOException {
        Optional<Dataset> found = Dataset.find(store);
        if (found.isPresent() && !ErasedCopies.isSame(source.info(), found.get().info())) {
            DatasetInfo other = found.get().info();
            throw new CopyRefusedException(found.get().where() + " is another dataset than " + source.where() + ": "
                    + (other.id().equals(source.info().id())
                            ? "both have the id " + other.id() + ", but their descriptions differ"
                            : "its id is " + other.id() + " instead of "
                                    + source.info().id())
                    + "; give the copy another target");
        }
        return found.map(dataset -> new Replica(source, dataset));
    }

    /** Opens the copy of a dataset, or creates it without versions. */
    public static Replica findOrCreate(Dataset source, ObjectStore store) throws IOException {
        Optional<Replica> found = find(source, store);
        byte[] description = source.store().readAll(DatasetLayout.DATASET_JSON, DatasetInfo.MAX_BYTES);
        DatasetInfo.decode(description, source.store().describe(DatasetLayout.DATASET_JSON));
        if (found.isEmpty()) {
            put(store, DatasetLayout.DATASET_JSON, description);
        }
        put(store, DatasetLayout.DATASET_COPY, description);
        return found.isPresent()
                ? found.get()
                : find(source, store).orElseThrow(() -> new NotADatasetException(Dataset.where(store)));
    }

    /** Creates an object, and returns whether it did not exist. All writers of the object write the same. */
    private static boolean put(ObjectStore store, String name, byte[] content) throws IOException {
        for (int attempt = 0; ; attempt++) {
            try {
                return store.createIfAbsent(name, content);
            } catch (UnknownOutcomeException e) {
                if (attempt == READ_BACKS) {
                    throw e;
                }
            }
        }
    }

    /** Returns the copy as a dataset. */
    public Dataset dataset() {
        return dataset;
    }

    /** Returns all versions that have a log entry. After a copy that was killed, there may be gaps. */
    public NavigableSet<Long> versions() throws IOException {
        return dataset.log().logVersions(1);
    }

    /** Returns whether no entry is missing, so that every version can be opened. */
    public boolean isWhole(NavigableSet<Long> versions) throws IOException {
        NavigableSet<Long> tables = dataset.log().tables();
        return versions.size() == versions.last() && (tables.isEmpty() || tables.last() <= versions.last());
    }

    /** Deletes chunk tables of later versions, which a copy has left that was killed before it wrote their entries. */
    public void deleteTablesAfter(long version) throws IOException {
        for (long table : dataset.log().tables().tailSet(version, false)) {
            store.delete(DatasetLayout.table(table));
        }
    }

    /** Returns the versions that lack their sign or second copy. */
    public NavigableSet<Long> incomplete(NavigableSet<Long> versions) throws IOException {
        NavigableSet<Long> incomplete = new TreeSet<>(versions);
        Set<Long> signed = new HashSet<>();
        for (ObjectInfo object : store.list(DatasetLayout.VERSIONS).toList()) {
            DatasetLayout.versionOfSign(object.name()).ifPresent(signed::add);
        }
        int copies = store.list(DatasetLayout.INGESTS).toList().size();
        if (copies >= versions.size()) {
            // The second copy is written last.
            incomplete.removeAll(signed);
        }
        return incomplete;
    }

    /** Returns the bytes of a version's entry at the source, after a check. */
    public byte[] sourceEntry(long version) throws IOException {
        byte[] content = source.log().raw(version);
        source.log().decode(version, content);
        return content;
    }

    /**
     * Returns whether the entry of a version is the same at the source and here. An erasure of class names at the
     * source does not count.
     */
    public boolean isSame(long version) throws IOException {
        return isSame(version, source.log().raw(version));
    }

    private boolean isSame(long version, byte[] entry) throws IOException {
        byte[] here = dataset.log().raw(version);
        return Arrays.equals(entry, here)
                || ErasedCopies.isSame(
                        source.log().decode(version, entry), dataset.log().decode(version, here));
    }

    /**
     * Returns whether all entries up to a version together give the same at the source and here. An erasure of class
     * names at the source does not count.
     */
    public boolean isSameState(long version) throws IOException {
        return ErasedCopies.isSame(
                source.anySnapshot(version).table(),
                dataset.anySnapshot(version).table());
    }

    /**
     * Makes a version visible. Its chunks must exist.
     *
     * @throws CopyRefusedException if the version exists with another entry
     */
    public void publish(long version, byte[] entry) throws IOException {
        if (!put(store, DatasetLayout.logEntry(version), entry) && !isSame(version, entry)) {
            throw diverged(version);
        }
    }

    /** Returns the error of a version that was committed here. */
    public CopyRefusedException diverged(long version) {
        return new CopyRefusedException("Version " + version + " of " + dataset.where()
                + " differs from the one of " + source.where() + ": a commit was made to one of the two after the last"
                + " copy; compare them with stoker log, and give the copy another target");
    }

    /** Writes the sign and the second copy of a version, unless they exist. */
    public void complete(long version, byte[] entry) throws IOException {
        LogEntry decoded = dataset.log().decode(version, entry);
        put(store, DatasetLayout.versionSign(version), VersionSign.content(decoded.ingest()));
        put(store, DatasetLayout.ingestCopy(decoded.ingest()), entry);
    }

    /** Writes the sign that versions may have been expired. */
    public void leaveExpirySign() throws IOException {
        ExpirySign.leave(store);
    }

    /** Writes a chunk table of the source. */
    public void publish(ChunkTable table) throws IOException {
        put(store, DatasetLayout.table(table.version()), table.encode());
    }

    /**
     * Copies the source's chunk tables up to a version, and deletes superseded ones.
     *
     * @return number of copied tables
     */
    public int copyTables(long version) throws IOException {
        NavigableSet<Long> here = dataset.log().tables();
        NavigableSet<Long> there = source.log().tables().headSet(version, true);
        NavigableSet<Long> wanted = new TreeSet<>(here);
        wanted.addAll(there);
        TablePolicy.superseded(wanted).forEach(wanted::remove);
        int copied = 0;
        for (long table : there) {
            if (wanted.contains(table) && !here.contains(table)) {
                // Read as a reader does: a damaged table is replaced by what the log says. The log here may have names
                // that the source has erased meanwhile.
                publish(dataset.anySnapshot(table).table());
                copied++;
            }
        }
        for (long table : here) {
            if (!wanted.contains(table)) {
                store.delete(DatasetLayout.table(table));
            }
        }
        return copied;
    }
}
