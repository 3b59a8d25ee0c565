package dev.stoker.metadata;

import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.NoSuchObjectException;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the commit log. A version exists if and only if its entry exists; chunk tables only reduce the number of
 * entries to read. Thread-safe.
 */
final class VersionLog {

    private static final Logger LOG = LoggerFactory.getLogger(VersionLog.class);

    /** Limit of an entry; enough for millions of chunks in one commit. */
    static final long MAX_ENTRY_BYTES = 1L << 30;

    private final ObjectStore store;
    private final DatasetInfo info;

    VersionLog(ObjectStore store, DatasetInfo info) {
        this.store = store;
        this.info = info;
    }

    /** Returns the newest version; 0 if there is none. */
    long newestVersion() throws IOException {
        NavigableSet<Long> tables = tables();
        return checkedNewest(tables.isEmpty() ? 0 : tables.last());
    }

    /** Returns the table of the newest version; without chunks if there is none. */
    ChunkTable newestTable() throws IOException {
        NavigableSet<Long> tables = tables();
        long newest = checkedNewest(tables.isEmpty() ? 0 : tables.last());
        return build(newest, tables);
    }

    /** Returns the table of a version, which must exist. */
    ChunkTable table(long version) throws IOException {
        NavigableSet<Long> tables = tables();
        long newest = checkedNewest(tables.isEmpty() ? 0 : tables.last());
        if (version < 1 || version > newest) {
            throw new UnknownVersionException(where(), version, newest);
        }
        return build(version, tables);
    }

    private ChunkTable build(long version, NavigableSet<Long> tables) throws IOException {
        for (long tableVersion : tables.headSet(version, true).descendingSet()) {
            String name = DatasetLayout.table(tableVersion);
            try {
                ChunkTable table = readTable(tableVersion);
                return table.with(entries(tableVersion + 1, version));
            } catch (NoSuchObjectException e) {
                // A later commit has deleted it as superseded. Newer ones exist, and older ones that the commit kept.
                LOG.debug("Chunk table {} is gone", store.describe(name));
            } catch (StokerException e) {
                // A table is derived data: the log contains the same, but is slower to read.
                LOG.warn("Ignoring chunk table {}: {}", store.describe(name), e.getMessage());
            }
        }
        return ChunkTable.empty(info).with(entries(1, version));
    }

    private ChunkTable readTable(long version) throws IOException {
        String name = DatasetLayout.table(version);
        String file = store.describe(name);
        ChunkTable table = ChunkTable.decode(store.readAll(name, Integer.MAX_VALUE), file);
        if (!table.dataset().equals(info.id()) || table.version() != version) {
            throw new ForeignFileException(
                    file,
                    "the chunk table of version " + version + " of dataset " + info.id(),
                    "it is the chunk table of version " + table.version() + " of dataset " + table.dataset());
        }
        return table;
    }

    private List<LogEntry> entries(long first, long last) throws IOException {
        List<LogEntry> entries = new ArrayList<>();
        for (long version = first; version <= last; version++) {
            entries.add(entry(version));
        }
        return entries;
    }

    /** Returns the entries after a version, in order. Checks that none is missing. */
    List<LogEntry> entriesAfter(long version) throws IOException {
        return entries(version + 1, checkedNewest(version));
    }

    /** Returns the entry of a version, which must exist. */
    LogEntry entry(long version) throws IOException {
        try {
            return decode(version, raw(version));
        } catch (NoSuchObjectException e) {
            throw missing(version);
        }
    }

    /** Returns the bytes of an entry. */
    byte[] raw(long version) throws IOException {
        return store.readAll(DatasetLayout.logEntry(version), MAX_ENTRY_BYTES);
    }

    LogEntry decode(long version, byte[] content) throws StokerException {
        String file = store.describe(DatasetLayout.logEntry(version));
        LogEntry entry = LogEntry.decode(content, file);
        if (entry.version() != version) {
            throw new ForeignFileException(
                    file, "the log entry of version " + version, "it is the log entry of version " + entry.version());
        }
        return checkDataset(entry, file);
    }

    /** Returns the second copy of an ingest's entry. */
    LogEntry copy(String ingest) throws IOException {
        String name = DatasetLayout.ingestCopy(ingest);
        String file = store.describe(name);
        LogEntry entry = LogEntry.decode(store.readAll(name, MAX_ENTRY_BYTES), file);
        if (!entry.ingest().equals(ingest)) {
            throw new ForeignFileException(
                    file, "the entry of ingest " + ingest, "it is the entry of ingest " + entry.ingest());
        }
        return checkDataset(entry, file);
    }

    private LogEntry checkDataset(LogEntry entry, String file) throws ForeignFileException {
        if (!entry.dataset().equals(info.id())) {
            throw new ForeignFileException(
                    file, "a log entry of dataset " + info.id(), "it belongs to dataset " + entry.dataset());
        }
        return entry;
    }

    /** Returns the versions that have a chunk table. */
    NavigableSet<Long> tables() throws IOException {
        return versions(DatasetLayout.TABLES, "", DatasetLayout::versionOfTable);
    }

    /** Returns the versions from {@code first} on that have a log entry. */
    NavigableSet<Long> logVersions(long first) throws IOException {
        return versions(DatasetLayout.LOG, DatasetLayout.logEntry(first - 1), DatasetLayout::versionOfLogEntry);
    }

    private NavigableSet<Long> versions(String prefix, String after, Function<String, OptionalLong> parse)
            throws IOException {
        NavigableSet<Long> versions = new TreeSet<>();
        try (ObjectIterator objects = store.list(prefix, after)) {
            while (objects.hasNext()) {
                OptionalLong version = parse.apply(objects.next().name());
                if (version.isPresent() && version.getAsLong() > 0) {
                    versions.add(version.getAsLong());
                }
            }
        }
        return versions;
    }

    /**
     * Returns the newest version, given that {@code known} exists. All entries from there on must exist. If two entries
     * appear during a listing, the listing may contain the second but not the first. This method therefore requests a
     * missing entry by name before it reports the log as damaged.
     */
    private long checkedNewest(long known) throws IOException {
        NavigableSet<Long> versions = logVersions(Math.max(known, 1));
        long newest = versions.isEmpty() ? known : Math.max(known, versions.last());
        for (long version = Math.max(known, 1); version <= newest; version++) {
            if (!versions.contains(version) && !exists(DatasetLayout.logEntry(version))) {
                throw missing(version);
            }
        }
        return newest;
    }

    /**
     * Checks that the entry after the newest visible one was not lost. No listing of the log shows such a loss, but the
     * version's sign does.
     *
     * @param newest the newest version of the log, as listed before this call
     * @throws CorruptDataException if the entry is lost
     */
    void requireNewest(long newest) throws IOException {
        long next = newest + 1;
        String sign = DatasetLayout.versionSign(next);
        // In this order: a sign is written after its entry.
        if (exists(sign) && !exists(DatasetLayout.logEntry(next))) {
            throw new CorruptDataException("The commit log of " + where() + " has lost its newest version " + next
                    + ": "
                    + store.describe(DatasetLayout.logEntry(next)) + " is missing, although " + store.describe(sign)
                    + " shows that it was committed; restore it with: stoker recover " + where());
        }
    }

    /** Returns the ingests of the versions after a version that have a sign; an empty text for an unreadable sign. */
    NavigableMap<Long, String> signsAfter(long version) throws IOException {
        NavigableMap<Long, String> signs = new TreeMap<>();
        NavigableSet<Long> versions =
                versions(DatasetLayout.VERSIONS, DatasetLayout.versionSign(version), DatasetLayout::versionOfSign);
        for (long signed : versions.tailSet(version, false)) {
            signs.put(signed, VersionSign.read(store, signed));
        }
        return signs;
    }

    private boolean exists(String name) throws IOException {
        try {
            store.length(name);
            return true;
        } catch (NoSuchObjectException e) {
            return false;
        }
    }

    private CorruptDataException missing(long version) throws IOException {
        boolean isCopied;
        try (ObjectIterator copies = store.list(DatasetLayout.COPIES)) {
            isCopied = copies.hasNext();
        }
        return new CorruptDataException("The commit log of " + where() + " lacks " + DatasetLayout.logEntry(version)
                + " although later files are there; "
                + (isCopied
                        ? "a copy to it is running or was interrupted: wait, or run stoker copy again"
                        : "rebuild it with `stoker recover`"));
    }

    private String where() {
        String json = store.describe(DatasetLayout.DATASET_JSON);
        return json.substring(0, json.length() - DatasetLayout.DATASET_JSON.length() - 1);
    }
}
