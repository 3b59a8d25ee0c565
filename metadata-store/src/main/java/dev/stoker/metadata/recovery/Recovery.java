package dev.stoker.metadata.recovery;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.NotADatasetException;
import dev.stoker.metadata.VersionLog;
import dev.stoker.metadata.VersionSign;
import dev.stoker.metadata.index.run.IndexRange;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.AddedChunk;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.errors.StoreErrors;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/**
 * Rebuilds a commit log that has lost or damaged entries. Restores an entry byte for byte from its second copy. If both
 * copies are lost, rebuilds the entry, where possible, from the heads of the chunks that no other entry contains.
 * First restores a dataset.json that is lost or belongs to another dataset than the log. No ingest may run at the same
 * time. Not thread-safe.
 */
public final class Recovery {

    private final Dataset dataset;
    private final ObjectStore store;
    private final VersionLog log;
    private final String recoveredBy;

    private final Map<Long, byte[]> good = new TreeMap<>();
    private final TreeMap<Long, LogEntry> entries = new TreeMap<>();
    private final Map<Long, byte[]> restored = new TreeMap<>();
    private final List<String> damaged = new ArrayList<>();
    private final List<RecoveryPlan.Write> copies = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();

    private Recovery(Dataset dataset, String recoveredBy) {
        this.dataset = dataset;
        this.store = dataset.store();
        this.log = dataset.log();
        this.recoveredBy = recoveredBy;
    }

    /**
     * Plans a recovery, without changes.
     *
     * @param recoveredBy user and host of the recovering process, for people
     * @throws NotADatasetException if there are no files of a dataset
     * @throws StokerException if the log cannot be rebuilt without guessing
     */
    public static RecoveryPlan plan(ObjectStore store, String recoveredBy) throws IOException {
        LostDescription description = new LostDescription(store);
        Recovery recovery = new Recovery(new Dataset(store, description.find()), recoveredBy);
        recovery.damaged.addAll(description.damaged());
        recovery.notes.addAll(description.notes());
        return recovery.plan(description.writes());
    }

    private RecoveryPlan plan(List<RecoveryPlan.Write> first) throws IOException {
        readLog();
        readCopies();
        long newest = entries.isEmpty() ? 0 : entries.lastKey();
        NavigableMap<Long, String> lostTail = log.signsAfter(newest);
        for (long version : List.copyOf(lostTail.keySet())) {
            // A commit may have published this entry since the log was read.
            if (readEntry(version)) {
                newest = version;
            }
        }
        lostTail.headMap(newest, true).clear();
        List<Long> lost = new ArrayList<>();
        for (long version = 1; version <= newest; version++) {
            // An entry that the listing lacks may have appeared during the listing.
            if (!entries.containsKey(version) && !readEntry(version)) {
                lost.add(version);
            }
        }
        List<RecoveryPlan.Write> writes = new ArrayList<>(first);
        restored.forEach((version, content) -> writes.add(new RecoveryPlan.Write(
                DatasetLayout.logEntry(version), content, "version " + version + " from its second copy")));
        boolean fromHeads = !lost.isEmpty() || newest == 0 || !lostTail.isEmpty();
        long firstRecovered = Long.MAX_VALUE;
        if (fromHeads) {
            List<LogEntry> recovered = withOverlays(fromHeads(lost, lostTail), lostTail);
            for (LogEntry entry : recovered) {
                firstRecovered = Math.min(firstRecovered, entry.version());
                byte[] content = entry.encode();
                writes.add(new RecoveryPlan.Write(
                        DatasetLayout.logEntry(entry.version()),
                        content,
                        "version " + entry.version() + " from the heads of "
                                + Units.plural(entry.added().size(), "chunk")
                                + (entry.updated().isEmpty()
                                        ? ""
                                        : " and " + Units.plural(entry.updated().size(), "overlay"))
                                + " of ingest " + entry.ingest()));
                copies.add(
                        new RecoveryPlan.Write(DatasetLayout.ingestCopy(entry.ingest()), content, "its second copy"));
            }
        }
        writes.addAll(copies);
        writes.addAll(signOfNewest());
        return new RecoveryPlan(store, damaged, stale(firstRecovered), writes, notes);
    }

    private void readLog() throws IOException {
        for (long version : log.logVersions(1)) {
            readEntry(version);
        }
    }

    /** Returns whether there is an intact entry. */
    private boolean readEntry(long version) throws IOException {
        String name = DatasetLayout.logEntry(version);
        if (damaged.contains(name)) {
            return false;
        }
        try {
            byte[] content = log.raw(version);
            LogEntry entry = log.decodeForRecovery(version, content);
            good.put(version, content);
            entries.put(version, entry);
            return true;
        } catch (NoSuchObjectException e) {
            return false;
        } catch (CorruptDataException | ForeignFileException e) {
            damaged.add(name);
            notes.add(e.getMessage());
            return false;
        }
    }

    private void readCopies() throws IOException {
        for (ObjectInfo object : store.list(DatasetLayout.INGESTS).toList()) {
            String file = store.describe(object.name());
            byte[] content;
            LogEntry entry;
            try {
                content = store.readAll(object.name(), Integer.MAX_VALUE);
                entry = LogEntry.decode(content, file);
            } catch (NoSuchObjectException e) {
                // Another recovery is replacing the copy.
                continue;
            } catch (StokerException e) {
                StoreErrors.rethrow(e);
                damaged.add(object.name());
                notes.add(e.getMessage());
                continue;
            }
            if (!DatasetLayout.ingestCopy(entry.ingest()).equals(object.name())
                    || !entry.dataset().equals(dataset.info().id())) {
                notes.add(file + " holds another ingest's entry and is left alone");
                continue;
            }
            LogEntry other = entries.putIfAbsent(entry.version(), entry);
            if (other == null) {
                restored.put(entry.version(), content);
            } else if (!other.equals(entry)) {
                throw new CorruptDataException("Two entries claim version " + entry.version() + " of " + dataset.where()
                        + ": ingests " + other.ingest() + " and " + entry.ingest() + "; move the wrong one of "
                        + DatasetLayout.INGESTS + " and " + DatasetLayout.LOG + " away by hand");
            }
        }
        for (Map.Entry<Long, byte[]> entry : good.entrySet()) {
            LogEntry decoded = Objects.requireNonNull(entries.get(entry.getKey()), "each good version was decoded");
            String copy = DatasetLayout.ingestCopy(decoded.ingest());
            if (damaged.contains(copy) || !exists(copy)) {
                copies.add(new RecoveryPlan.Write(copy, entry.getValue(), "second copy of version " + entry.getKey()));
            }
        }
    }

    private boolean exists(String name) throws IOException {
        try {
            store.length(name);
            return true;
        } catch (NoSuchObjectException e) {
            return false;
        }
    }

    /** A commit requires the sign of the newest version, and takes an entry's copy as a proof that its sign exists. */
    private List<RecoveryPlan.Write> signOfNewest() throws IOException {
        if (entries.isEmpty() || exists(DatasetLayout.versionSign(entries.lastKey()))) {
            return List.of();
        }
        long newest = entries.lastKey();
        return List.of(new RecoveryPlan.Write(
                DatasetLayout.versionSign(newest),
                VersionSign.content(entries.lastEntry().getValue().ingest()),
                "sign of version " + newest));
    }

    /**
     * Adds lost overlays to rebuilt entries: those of an update to its version if a sign names it, and others to the
     * last rebuilt version.
     */
    private List<LogEntry> withOverlays(List<LogEntry> recovered, NavigableMap<Long, String> lostTail)
            throws IOException {
        Set<UUID> known = new HashSet<>();
        for (LogEntry entry : entries.values()) {
            entry.updated().forEach(chunk -> known.add(chunk.overlay().id()));
        }
        LostOverlays overlays =
                LostOverlays.read(dataset, known, new Leases(dataset).all().keySet());
        notes.addAll(overlays.notes());
        if (overlays.isEmpty()) {
            return recovered;
        }
        List<LogEntry> all = new ArrayList<>(recovered);
        boolean isWholeTail = lostTail.values().containsAll(overlays.ingests());
        if (!isWholeTail && (all.isEmpty() || !all.get(all.size() - 1).added().isEmpty())) {
            if (!all.isEmpty() && entries.higherKey(all.get(all.size() - 1).version()) != null) {
                notes.add("Overlays of the updates " + overlays.ingests() + " are left out: the lost versions added"
                        + " chunks, so it is not known to which version they belong");
                return recovered;
            }
            long version = all.isEmpty()
                    ? entries.lastKey() + 1
                    : all.get(all.size() - 1).version() + 1;
            all.add(LostChunks.nothing(dataset, version, recoveredBy));
        }
        notes.add("Values of the updates " + overlays.ingests() + " come back");
        ChunkTable table = ChunkTable.empty(dataset.info());
        List<LogEntry> result = new ArrayList<>();
        NavigableMap<Long, LogEntry> log = new TreeMap<>(entries);
        all.forEach(entry -> log.put(entry.version(), entry));
        for (LogEntry entry : log.values()) {
            LogEntry whole = entry;
            if (all.contains(entry)) {
                String ingest = lostTail.getOrDefault(entry.version(), "");
                boolean isLast = entry.version() == all.get(all.size() - 1).version();
                if (overlays.ingests().contains(ingest)) {
                    whole = overlays.with(LostChunks.named(entry, ingest), ingest, table);
                } else if (isLast && !isWholeTail) {
                    whole = overlays.with(entry, table);
                }
                result.add(whole);
            }
            table = table.with(whole);
        }
        return result;
    }

    private List<LogEntry> fromHeads(List<Long> lost, NavigableMap<Long, String> lostTail) throws IOException {
        Set<UUID> known = new HashSet<>();
        for (LogEntry entry : entries.values()) {
            entry.added().forEach(chunk -> known.add(chunk.id()));
        }
        LostChunks chunks = LostChunks.read(dataset, known);
        notes.addAll(chunks.notes());
        if (entries.isEmpty()) {
            if (!chunks.isEmpty()) {
                notes.add(
                        "Both log and second copies are lost: all intact chunks come back, by ingest. Samples that had"
                                + " been removed or replaced come back too; an ingest that never committed cannot be"
                                + " told from one that did, so look"
                                + " at each of: " + String.join(", ", chunks.ingests()));
            }
            List<LogEntry> recovered = new ArrayList<>(chunks.byIngest(1, 0, recoveredBy));
            long last = lostTail.isEmpty() ? 0 : lostTail.lastKey();
            for (long version = recovered.size() + 1L; version <= last; version++) {
                recovered.add(chunks.nothing(version, recoveredBy));
            }
            return recovered;
        }
        if (lost.isEmpty()) {
            return lostTail.isEmpty() ? List.of() : tail(lostTail, chunks);
        }
        long first = lost.get(0);
        long last = lost.get(lost.size() - 1);
        long nextOrdinal = nextOrdinal(first);
        OptionalLong missing = missingOrdinals(last, nextOrdinal);
        if (last - first + 1 != lost.size()
                || !missing.equals(OptionalLong.of(chunks.count()))
                || chunks.ingests().size() > lost.size()) {
            throw new CorruptDataException("Versions " + lost + " of " + dataset.where()
                    + " are lost with their second copies and cannot be rebuilt without guessing: they added "
                    + (missing.isPresent() ? Units.plural(missing.getAsLong(), "chunk") : "an unknown number of chunks")
                    + ", and "
                    + Units.plural(chunks.count(), "chunk") + " of "
                    + Units.plural(chunks.ingests().size(), "ingest")
                    + " are in no other version; restore " + DatasetLayout.LOG + " from a backup");
        }
        notes.add("Versions " + lost
                + " are rebuilt from the heads of the chunks that they must have added. Samples that they had removed"
                + " come back.");
        List<LogEntry> recovered = new ArrayList<>(chunks.byIngest(first, nextOrdinal, recoveredBy));
        for (long version = first + recovered.size(); version <= last; version++) {
            recovered.add(chunks.nothing(version, recoveredBy));
        }
        return recovered;
    }

    /** Rebuilds the newest versions, which have left only their signs. */
    private List<LogEntry> tail(NavigableMap<Long, String> lostTail, LostChunks chunks) throws CorruptDataException {
        long last = lostTail.lastKey();
        Set<String> others = new TreeSet<>(chunks.ingests());
        others.removeAll(lostTail.values());
        if (!others.isEmpty()) {
            throw new CorruptDataException("Versions " + lostTail.keySet() + " of " + dataset.where()
                    + " are lost with their second copies and cannot be rebuilt without guessing: chunks of ingests "
                    + others + " are in no version, and the signs name " + lostTail.values() + "; restore "
                    + DatasetLayout.LOG + " from a backup, or, to accept the loss, delete the signs "
                    + store.describe(DatasetLayout.versionSign(lostTail.firstKey())) + " and later");
        }
        notes.add("Versions " + lostTail.keySet() + " are rebuilt from the heads of their chunks. Samples that they had"
                + " removed come back.");
        List<LogEntry> recovered = new ArrayList<>();
        long ordinal = nextOrdinal(Long.MAX_VALUE);
        for (long version = entries.lastKey() + 1; version <= last; version++) {
            LogEntry entry = chunks.entry(lostTail.getOrDefault(version, ""), version, ordinal, recoveredBy);
            ordinal += entry.added().size();
            recovered.add(entry);
        }
        return recovered;
    }

    private long nextOrdinal(long version) {
        long next = 0;
        for (LogEntry entry : entries.values()) {
            for (AddedChunk chunk : entry.version() < version ? entry.added() : List.<AddedChunk>of()) {
                next = chunk.ordinal() + 1;
            }
        }
        return next;
    }

    /** Returns the number of ordinals between those before the lost versions and those after. */
    private OptionalLong missingOrdinals(long lastLost, long nextOrdinal) {
        for (LogEntry entry : entries.values()) {
            if (entry.version() > lastLost && !entry.added().isEmpty()) {
                return OptionalLong.of(entry.added().get(0).ordinal() - nextOrdinal);
            }
        }
        return OptionalLong.empty();
    }

    /**
     * Returns the tables from the first recovered version on, and the index runs that include it or later ones. They
     * may contain the chunks under other ordinals.
     */
    private List<String> stale(long firstRecovered) throws IOException {
        List<String> stale = new ArrayList<>();
        for (long version : log.tables().tailSet(firstRecovered)) {
            stale.add(DatasetLayout.table(version));
        }
        for (ObjectInfo run : firstRecovered == Long.MAX_VALUE
                ? List.<ObjectInfo>of()
                : store.list(DatasetLayout.INDEX).toList()) {
            IndexRange.ofName(run.name())
                    .filter(range -> range.last() >= firstRecovered)
                    .ifPresent(range -> stale.add(range.name()));
        }
        return stale;
    }
}
