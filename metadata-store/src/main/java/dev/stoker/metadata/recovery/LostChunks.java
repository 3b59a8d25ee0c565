package dev.stoker.metadata.recovery;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.AddedChunk;
import dev.stoker.schemas.log.ClassOrder;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.errors.StoreErrors;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.IntStream;

/**
 * Finds the chunks that no known log entry contains, from their own heads, by ingest. The chunks of a compaction are
 * left out if other chunks have their samples. If the whole log is lost, the chunks that were compacted may have been
 * deleted with expired versions; then the compaction comes back, and removes its samples from the chunks that are
 * left. Not thread-safe.
 */
final class LostChunks {

    private record Found(ChunkSummary summary, long createdMs) {}

    private final Dataset dataset;
    private final Set<String> leased;
    private final Set<String> leftOut = new TreeSet<>();
    private final Map<String, List<Found>> byIngest = new TreeMap<>();
    private final Map<String, List<Found>> compactions = new TreeMap<>();
    /** By compaction, the rows of other chunks that have the same samples. */
    private final Map<String, Map<UUID, int[]>> repeated = new TreeMap<>();

    private final Map<String, Map<String, Set<String>>> classes = new TreeMap<>();
    /** By ingest, the fields that its chunks have beside those of dataset.json. */
    private final Map<String, AddedFields> addedFields = new TreeMap<>();

    private final List<String> notes = new ArrayList<>();
    private int count;

    private LostChunks(Dataset dataset, Set<String> leased) {
        this.dataset = dataset;
        this.leased = leased;
    }

    /** Reads and verifies the chunks. Records and omits damaged ones. */
    static LostChunks read(Dataset dataset, Set<UUID> known) throws IOException {
        LostChunks chunks = new LostChunks(dataset, new Leases(dataset).all().keySet());
        try (ObjectIterator objects = dataset.store().list(DatasetLayout.CHUNKS)) {
            while (objects.hasNext()) {
                ObjectInfo object = objects.next();
                UUID id = ChunkNames.idOf(object.name()).orElse(null);
                if (id != null && !known.contains(id)) {
                    chunks.read(object.name());
                }
            }
        }
        if (known.isEmpty()) {
            chunks.takeCompactions();
        }
        chunks.compactions
                .values()
                .forEach(left -> left.forEach(
                        chunk -> chunks.notes.add(dataset.store().describe(ChunkNames.path(chunk.summary.id()))
                                + " was made by a compaction and is left out: others have its samples")));
        return chunks;
    }

    /** Takes the compactions, oldest first, that have a sample which no other chunk has. */
    private void takeCompactions() throws IOException {
        Map<UUID, List<String>> taken = new LinkedHashMap<>();
        Set<String> present = new HashSet<>();
        if (!compactions.isEmpty()) {
            for (List<Found> chunks : byIngest.values()) {
                take(chunks, taken, present);
            }
        }
        List<String> ingests = new ArrayList<>(compactions.keySet());
        ingests.sort(Comparator.comparingLong(
                ingest -> oldestOf(Objects.requireNonNull(compactions.get(ingest), "a compaction has chunks"))));
        for (String ingest : ingests) {
            List<Found> chunks = Objects.requireNonNull(compactions.get(ingest), "a compaction has chunks");
            Map<UUID, List<String>> own = new LinkedHashMap<>();
            Set<String> keys = new HashSet<>();
            take(chunks, own, keys);
            if (present.containsAll(keys)) {
                continue;
            }
            Map<UUID, int[]> rows = new TreeMap<>();
            taken.forEach((id, all) -> {
                int[] same = IntStream.range(0, all.size())
                        .filter(row -> keys.contains(all.get(row)))
                        .toArray();
                if (same.length > 0) {
                    rows.put(id, same);
                }
            });
            repeated.put(ingest, rows);
            taken.putAll(own);
            present.addAll(keys);
            byIngest.put(ingest, chunks);
            count += chunks.size();
            compactions.remove(ingest);
            notes.add("The chunks of compaction " + ingest + " come back: the chunks that it had rewritten are gone");
        }
    }

    private void take(List<Found> chunks, Map<UUID, List<String>> taken, Set<String> present) throws IOException {
        for (Found chunk : chunks) {
            ChunkHead head = ChunkHeads.read(dataset.store(), chunk.summary);
            List<String> keys =
                    IntStream.range(0, head.rows()).mapToObj(head::key).toList();
            taken.put(chunk.summary.id(), keys);
            present.addAll(keys);
        }
    }

    private void read(String name) throws IOException {
        ObjectRangeReader file = new ObjectRangeReader(dataset.store(), name);
        try {
            ChunkSummary summary = ChunkReader.verify(file);
            ChunkHead head = ChunkReader.open(file);
            ChunkIdentity identity = head.identity();
            Optional<AddedFields> more = AddedFields.beyond(dataset.info().fields(), head.fields());
            if (!identity.dataset().equals(dataset.info().id()) || more.isEmpty()) {
                notes.add(file.name() + " belongs to another dataset and is left alone");
                return;
            }
            if (leased.contains(identity.ingest())) {
                if (leftOut.add(identity.ingest())) {
                    notes.add("The chunks of ingest " + identity.ingest() + " are left out: its lease says that it has"
                            + " not committed. If it has, delete " + DatasetLayout.lease(identity.ingest())
                            + " and plan again");
                }
                return;
            }
            add(identity.ingest(), more.get());
            boolean isCompaction = identity.ingest().startsWith(VersionRequest.COMPACTION);
            (isCompaction ? compactions : byIngest)
                    .computeIfAbsent(identity.ingest(), ingest -> new ArrayList<>())
                    .add(new Found(summary, identity.created().toEpochMilli()));
            count += isCompaction ? 0 : 1;
            List<Field> fields = head.fields();
            Map<String, Set<String>> names = classes.computeIfAbsent(identity.ingest(), ingest -> new TreeMap<>());
            for (int f = 0; f < fields.size(); f++) {
                if (!head.classes(f).isEmpty()) {
                    names.computeIfAbsent(fields.get(f).name(), field -> new TreeSet<>(ClassOrder.INSTANCE))
                            .addAll(head.classes(f));
                }
            }
        } catch (StokerException e) {
            StoreErrors.rethrow(e);
            notes.add("Left out: " + e.getMessage());
        }
    }

    /** Remembers the fields that chunks of an ingest have beside those of dataset.json. */
    private void add(String ingest, AddedFields more) throws CorruptDataException {
        try {
            addedFields.merge(ingest, more, AddedFields::with);
        } catch (IllegalArgumentException e) {
            throw new CorruptDataException(
                    "chunks of ingest " + ingest + " have different fields: " + e.getMessage(), e);
        }
    }

    boolean isEmpty() {
        return count == 0;
    }

    int count() {
        return count;
    }

    Set<String> ingests() {
        return byIngest.keySet();
    }

    List<String> notes() {
        return notes;
    }

    /** Returns one entry for each ingest, in the order of their oldest chunks. */
    List<LogEntry> byIngest(long firstVersion, long firstOrdinal, String recoveredBy) {
        List<String> ingests = new ArrayList<>(byIngest.keySet());
        // A compaction removes rows of the chunks before.
        ingests.sort(Comparator.<String, Boolean>comparing(repeated::containsKey)
                .thenComparingLong(this::oldest)
                .thenComparing(Comparator.naturalOrder()));
        List<LogEntry> entries = new ArrayList<>();
        Map<UUID, Long> ordinals = new HashMap<>();
        long ordinal = firstOrdinal;
        for (String ingest : ingests) {
            LogEntry entry = entry(ingest, firstVersion + entries.size(), ordinal, recoveredBy);
            List<RemovedRows> removed = new ArrayList<>();
            repeated.getOrDefault(ingest, Map.of())
                    .forEach((id, rows) -> removed.add(RemovedRows.of(
                            Objects.requireNonNull(ordinals.get(id), "the chunk is in an entry before"), rows)));
            removed.sort(Comparator.comparingLong(RemovedRows::ordinal));
            entry.added().forEach(chunk -> ordinals.put(chunk.id(), chunk.ordinal()));
            ordinal += entry.added().size();
            entries.add(entry.withVersion(entry.version(), entry.added(), removed));
        }
        return entries;
    }

    /** Returns an entry of the chunks of an ingest, or one that changes nothing if there are none. */
    LogEntry entry(String ingest, long version, long firstOrdinal, String recoveredBy) {
        List<Found> found = byIngest.get(ingest);
        if (found == null) {
            return nothing(version, recoveredBy);
        }
        // Ordered by id, compared as text: UUIDv7s begin with the time.
        found.sort(Comparator.comparing(chunk -> chunk.summary.id().toString()));
        List<AddedChunk> added = new ArrayList<>();
        long newestMs = 0;
        for (Found chunk : found) {
            ChunkSummary s = chunk.summary;
            newestMs = Math.max(newestMs, chunk.createdMs);
            added.add(new AddedChunk(
                    firstOrdinal + added.size(),
                    s.id(),
                    s.split(),
                    s.rows(),
                    s.length(),
                    s.crc32c(),
                    s.headLength(),
                    s.headCrc32c(),
                    s.largestRow()));
        }
        Map<String, List<String>> names = new TreeMap<>();
        Objects.requireNonNull(classes.get(ingest), "each ingest has class names")
                .forEach((field, set) -> names.put(field, List.copyOf(set)));
        return new LogEntry(
                dataset.info().id(),
                version,
                ingest,
                Operation.RECOVERED,
                newestMs,
                recoveredBy,
                added,
                List.of(),
                names,
                LogEntry.properties(Map.of(), addedFields.getOrDefault(ingest, AddedFields.NONE)));
    }

    private long oldest(String ingest) {
        return oldestOf(Objects.requireNonNull(byIngest.get(ingest), "each ingest has chunks"));
    }

    private static long oldestOf(List<Found> chunks) {
        return chunks.stream().mapToLong(Found::createdMs).min().orElse(0);
    }

    /** Returns an entry that changes nothing. It replaces an entry that is completely lost. */
    LogEntry nothing(long version, String recoveredBy) {
        return nothing(dataset, version, recoveredBy);
    }

    /** Returns an entry that changes nothing with the id of its ingest, which its sign names. */
    static LogEntry named(LogEntry entry, String ingest) {
        return entry.ingest().equals(ingest)
                ? entry
                : new LogEntry(
                        entry.dataset(),
                        entry.version(),
                        ingest,
                        entry.operation(),
                        entry.committedMs(),
                        entry.committedBy(),
                        entry.added(),
                        entry.removed(),
                        entry.classes(),
                        entry.properties());
    }

    static LogEntry nothing(Dataset dataset, long version, String recoveredBy) {
        return new LogEntry(
                dataset.info().id(),
                version,
                "recovered-" + version,
                Operation.RECOVERED,
                0,
                recoveredBy,
                List.of(),
                List.of(),
                Map.of(),
                Map.of());
    }
}
