package dev.stoker.metadata;

import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the commit log. A version exists if and only if its entry exists; chunk tables only reduce the number of
 * entries to read. Keeps the newest version that it has read. Thread-safe.
 */
public final class VersionLog {

    private static final Logger LOG = LoggerFactory.getLogger(VersionLog.class);

    /** Limit of an entry; enough for millions of chunks in one commit. */
    public static final long MAX_ENTRY_BYTES = 1L << 30;

    /** Smaller numbers of entries are read one after the other. */
    private static final int MANY = 4;

    /** Limit of the log entry of a kept version, so that an open dataset does not hold a large one in memory. */
    static final int MAX_KEPT_BYTES = 1 << 20;

    private final ObjectStore store;
    private final DatasetInfo info;
    private volatile @Nullable LogTip kept;

    /**
     * Contains consecutive entries.
     *
     * @param list in order
     * @param newest bytes of the last one; empty without entries
     * @param listed these and earlier entries, as listings showed them
     */
    public record Entries(List<LogEntry> list, byte[] newest, NavigableMap<Long, ObjectInfo> listed) {}

    VersionLog(ObjectStore store, DatasetInfo info) {
        this.store = store;
        this.info = info;
    }

    /** Returns the newest version; 0 if there is none. */
    public long newestVersion() throws IOException {
        long table = newestOf(tables());
        return checkedNewest(table, listing(table));
    }

    /**
     * Returns the table of the newest version; without chunks if there is none. After the first call, reads only new
     * entries.
     */
    public ChunkTable newestTable() throws IOException {
        return readNewest().table();
    }

    /** Returns the newest version with its log entry; version 0 has none. */
    public LogTip newest() throws IOException {
        LogTip tip = readNewest();
        if (tip.version() == 0 || tip.hasEntry()) {
            return tip;
        }
        byte[] content = existing(tip.version());
        String ingest = decode(tip.version(), content).ingest();
        LogTip read = new LogTip(tip.table(), ingest, content, tip.listed(), tip.newestTable());
        keep(read);
        return read;
    }

    /**
     * Reads the newest version. If the version of the last call is still part of the log, reads only later entries. It
     * is part of the log if its entry has the same bytes as then, and if the listing shows the same length and time of
     * each entry before it. Otherwise a recovery or an erasure has changed entries since, or the dataset was created
     * again.
     */
    private LogTip readNewest() throws IOException {
        NavigableSet<Long> tables = tables();
        long newestTable = newestOf(tables);
        NavigableMap<Long, ObjectInfo> listed = listing(newestTable);
        long newest = checkedNewest(newestTable, listed);
        LogTip start = kept;
        LogTip tip;
        if (start != null
                && start.version() >= newestTable
                && start.version() <= newest
                && isUnchanged(start, listed)) {
            tip = start.with(entries(start.version() + 1, newest, listed), newestTable);
        } else {
            tip = build(newest, tables, listed);
        }
        keep(tip);
        return tip;
    }

    private boolean isUnchanged(LogTip tip, NavigableMap<Long, ObjectInfo> listed) throws IOException {
        try {
            return tip.isBasedOn(listed) && Arrays.equals(tip.content(), raw(tip.version()));
        } catch (NoSuchObjectException e) {
            return false;
        }
    }

    /** Keeps a version, unless its entry is large, so that the next reading of the newest version can start from it. */
    public void keep(LogTip tip) {
        if (tip.hasEntry() && tip.content().length <= MAX_KEPT_BYTES) {
            kept = tip;
        }
    }

    /** Returns the table of a version, which must exist. */
    public ChunkTable table(long version) throws IOException {
        NavigableSet<Long> tables = tables();
        long newestTable = newestOf(tables);
        long newest = checkedNewest(newestTable, listing(newestTable));
        if (version < 1 || version > newest) {
            throw new UnknownVersionException(where(), version, newest);
        }
        return build(version, tables, Collections.emptyNavigableMap()).table();
    }

    private LogTip build(long version, NavigableSet<Long> tables, NavigableMap<Long, ObjectInfo> listed)
            throws IOException {
        long newestTable = newestOf(tables);
        for (long tableVersion : tables.headSet(version, true).descendingSet()) {
            String name = DatasetLayout.table(tableVersion);
            try {
                LogTip start = LogTip.unread(readTable(tableVersion));
                return start.with(entries(tableVersion + 1, version, listed), newestTable);
            } catch (NoSuchObjectException e) {
                // A later commit has deleted it as superseded. Newer ones exist, and older ones that the commit kept.
                LOG.debug("Chunk table {} is gone", store.describe(name));
            } catch (StokerException e) {
                // A table is derived data: the log contains the same, but is slower to read.
                LOG.warn("Ignoring chunk table {}: {}", store.describe(name), e.getMessage());
            }
        }
        return LogTip.unread(ChunkTable.empty(info)).with(entries(1, version, listed), newestTable);
    }

    private static long newestOf(NavigableSet<Long> versions) {
        return versions.isEmpty() ? 0 : versions.last();
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

    /**
     * Returns the entries of consecutive versions, which must exist. From a remote store, reads several at a time.
     *
     * @throws IOException the failure of the first version that cannot be read
     */
    private Entries entries(long first, long last, NavigableMap<Long, ObjectInfo> listed) throws IOException {
        List<Long> versions = LongStream.rangeClosed(first, last).boxed().toList();
        byte[][] newest = {new byte[0]};
        ParallelRequests.Request<Long, LogEntry> read = version -> {
            byte[] content = existing(version);
            if (version == last) {
                newest[0] = content;
            }
            return decode(version, content);
        };
        List<LogEntry> entries;
        if (versions.size() < MANY
                || store.localPath(DatasetLayout.logEntry(first)).isPresent()) {
            entries = new ArrayList<>();
            for (long version : versions) {
                entries.add(read.send(version));
            }
        } else {
            entries = ParallelRequests.send(versions, read, "Interrupted while the log was read");
        }
        return new Entries(entries, newest[0], listed);
    }

    /** Returns the entries after a version, in order. Checks that none is missing. */
    public Entries entriesAfter(LogTip tip) throws IOException {
        NavigableMap<Long, ObjectInfo> now = listing(tip.version());
        NavigableMap<Long, ObjectInfo> listed = new TreeMap<>(tip.listed());
        now.forEach(listed::putIfAbsent);
        return entries(tip.version() + 1, checkedNewest(tip.version(), now), listed);
    }

    /** Returns the entry of a version, which must exist. */
    public LogEntry entry(long version) throws IOException {
        return decode(version, existing(version));
    }

    private byte[] existing(long version) throws IOException {
        try {
            return raw(version);
        } catch (NoSuchObjectException e) {
            throw missing(version);
        }
    }

    /** Returns the bytes of an entry. */
    public byte[] raw(long version) throws IOException {
        return store.readAll(DatasetLayout.logEntry(version), MAX_ENTRY_BYTES);
    }

    /** Returns the entry that its file contains. The error of a damaged file says how to restore it. */
    public LogEntry decode(long version, byte[] content) throws StokerException {
        try {
            return decodeForRecovery(version, content);
        } catch (CorruptDataException e) {
            throw recoverable(e, where());
        }
    }

    /** Returns the entry that its file contains, for a recovery: its errors do not advise to run one. */
    public LogEntry decodeForRecovery(long version, byte[] content) throws StokerException {
        String file = store.describe(DatasetLayout.logEntry(version));
        LogEntry entry = LogEntry.decode(content, file);
        if (entry.version() != version) {
            throw new ForeignFileException(
                    file, "the log entry of version " + version, "it is the log entry of version " + entry.version());
        }
        return checkDataset(entry, file);
    }

    /** Returns the second copy of an ingest's entry. */
    public LogEntry copy(String ingest) throws IOException {
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
    public NavigableSet<Long> tables() throws IOException {
        return objects(DatasetLayout.TABLES, "", DatasetLayout::versionOfTable).navigableKeySet();
    }

    /** Returns the versions from {@code first} on that have a log entry. */
    public NavigableSet<Long> logVersions(long first) throws IOException {
        return listing(first).navigableKeySet();
    }

    /** Returns the entries from a version on, as the store lists them. */
    private NavigableMap<Long, ObjectInfo> listing(long first) throws IOException {
        return objects(
                DatasetLayout.LOG, DatasetLayout.logEntry(Math.max(first, 1) - 1), DatasetLayout::versionOfLogEntry);
    }

    private NavigableMap<Long, ObjectInfo> objects(String prefix, String after, Function<String, OptionalLong> parse)
            throws IOException {
        NavigableMap<Long, ObjectInfo> found = new TreeMap<>();
        try (ObjectIterator objects = store.list(prefix, after)) {
            while (objects.hasNext()) {
                ObjectInfo object = objects.next();
                OptionalLong version = parse.apply(object.name());
                if (version.isPresent() && version.getAsLong() > 0) {
                    found.put(version.getAsLong(), object);
                }
            }
        }
        return found;
    }

    /**
     * Returns the newest version, given that {@code known} exists. All entries from there on must exist. If two entries
     * appear during a listing, the listing may contain the second but not the first. This method therefore requests a
     * missing entry by name before it reports the log as damaged.
     *
     * @param listed the entries from {@code known} on
     */
    private long checkedNewest(long known, NavigableMap<Long, ObjectInfo> listed) throws IOException {
        long newest = listed.isEmpty() ? known : Math.max(known, listed.lastKey());
        for (long version = Math.max(known, 1); version <= newest; version++) {
            if (!listed.containsKey(version) && !exists(DatasetLayout.logEntry(version))) {
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
    public void requireNewest(long newest) throws IOException {
        long next = newest + 1;
        String sign = DatasetLayout.versionSign(next);
        // In this order: a sign is written after its entry.
        if (exists(sign) && !exists(DatasetLayout.logEntry(next))) {
            throw new CorruptDataException("The commit log of " + where() + " has lost its newest version " + next
                    + ": "
                    + store.describe(DatasetLayout.logEntry(next)) + " is missing, although " + store.describe(sign)
                    + " shows that it was committed; restore it with: stoker recover " + ShellText.word(where()));
        }
    }

    /** Returns the ingests of the versions after a version that have a sign; an empty text for an unreadable sign. */
    public NavigableMap<Long, String> signsAfter(long version) throws IOException {
        NavigableMap<Long, String> signs = new TreeMap<>();
        NavigableSet<Long> versions = objects(
                        DatasetLayout.VERSIONS, DatasetLayout.versionSign(version), DatasetLayout::versionOfSign)
                .navigableKeySet();
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
                        : "rebuild it with `stoker recover " + ShellText.word(where()) + "`"));
    }

    /** Returns the error of a damaged file that {@code stoker recover} restores, with that advice. */
    static CorruptDataException recoverable(CorruptDataException damage, String where) {
        String message = CorruptDataException.withoutFileAdvice(ErrorText.of(damage));
        CorruptDataException found =
                new CorruptDataException(message + "; restore it with `stoker recover " + ShellText.word(where) + "`");
        // Not as the cause, whose advice the command line would print.
        found.addSuppressed(damage);
        return found;
    }

    private String where() {
        String json = store.describe(DatasetLayout.DATASET_JSON);
        return json.substring(0, json.length() - DatasetLayout.DATASET_JSON.length() - 1);
    }
}
