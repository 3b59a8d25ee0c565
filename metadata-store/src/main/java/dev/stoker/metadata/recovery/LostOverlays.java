package dev.stoker.metadata.recovery;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkOverlay;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.ClassOrder;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.log.UpdatedChunk;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.StoreErrors;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Predicate;

/**
 * Finds the overlays that no known log entry names, from their own files. Those of ingests with a lease, and damaged
 * ones, are left out. For one thread.
 */
public final class LostOverlays {

    /** An intact overlay of a chunk. */
    private record Found(
            ChunkOverlay overlay,
            UUID chunk,
            String ingest,
            long createdMs,
            List<Field> fields,
            Map<String, List<String>> classes) {

        /** Puts newer overlays last. Ids are UUIDv7s, which begin with the time. */
        static final Comparator<Found> OLDEST_FIRST = Comparator.comparingLong(Found::createdMs)
                .thenComparing(found -> found.overlay.id().toString());
    }

    private final Dataset dataset;
    private final List<Found> found = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();

    private LostOverlays(Dataset dataset) {
        this.dataset = dataset;
    }

    /**
     * Reads and verifies the overlays.
     *
     * @param known ids of overlays to leave out
     * @param leased ingests to leave out
     */
    public static LostOverlays read(Dataset dataset, Set<UUID> known, Set<String> leased) throws IOException {
        LostOverlays lost = new LostOverlays(dataset);
        ObjectStore store = dataset.store();
        try (ObjectIterator objects = store.list(ChunkNames.OVERLAYS)) {
            while (objects.hasNext()) {
                ObjectInfo object = objects.next();
                UUID id = ChunkNames.idOfOverlay(object.name()).orElse(null);
                if (id != null && !known.contains(id)) {
                    lost.read(object.name(), id, leased);
                }
            }
        }
        lost.found.sort(Found.OLDEST_FIRST);
        return lost;
    }

    private void read(String name, UUID id, Set<String> leased) throws IOException {
        ObjectRangeReader file = new ObjectRangeReader(dataset.store(), name);
        try {
            ChunkSummary summary = ChunkReader.verify(file);
            ChunkHead head = ChunkReader.open(file);
            ChunkIdentity identity = head.identity();
            if (!identity.dataset().equals(dataset.info().id())
                    || !identity.chunk().equals(id)
                    || identity.overlaid().isEmpty()) {
                notes.add(file.name() + " belongs to another dataset and is left alone");
            } else if (leased.contains(identity.ingest())) {
                notes.add("The overlay " + file.name() + " is left out: the lease of " + identity.ingest()
                        + " says that it has not committed");
            } else {
                found.add(new Found(
                        new ChunkOverlay(id, summary.length(), summary.crc32c()),
                        identity.overlaid().get(),
                        identity.ingest(),
                        identity.created().toEpochMilli(),
                        head.fields(),
                        classes(head)));
            }
        } catch (StokerException e) {
            StoreErrors.rethrow(e);
            notes.add("Left out: " + e.getMessage());
        }
    }

    private static Map<String, List<String>> classes(ChunkHead head) {
        Map<String, List<String>> classes = new TreeMap<>();
        List<Field> fields = head.fields();
        for (int f = 0; f < fields.size(); f++) {
            if (!head.classes(f).isEmpty()) {
                classes.put(fields.get(f).name(), head.classes(f));
            }
        }
        return classes;
    }

    public boolean isEmpty() {
        return found.isEmpty();
    }

    /** Returns what the user should know, one line each. */
    public List<String> notes() {
        return notes;
    }

    /** Returns the ids of the updates. */
    Set<String> ingests() {
        Set<String> ingests = new TreeSet<>();
        found.forEach(overlay -> ingests.add(overlay.ingest));
        return ingests;
    }

    /**
     * Returns an entry like the given one that also has the overlays of an update.
     *
     * @param before the version before the entry
     */
    LogEntry with(LogEntry entry, String ingest, ChunkTable before) throws IOException {
        return with(entry, overlay -> overlay.ingest.equals(ingest), before);
    }

    /**
     * Returns an entry like the given one that also has the newest overlay of each chunk which is part of the version
     * before and which the entry does not remove.
     *
     * @param before the version before the entry
     */
    public LogEntry with(LogEntry entry, ChunkTable before) throws IOException {
        return with(entry, overlay -> true, before);
    }

    private LogEntry with(LogEntry entry, Predicate<Found> wanted, ChunkTable before) throws IOException {
        ChunkTable table = before.with(entry);
        AddedFields all = table.added();
        for (Found overlay : found) {
            all = wanted.test(overlay) ? withFieldsOf(overlay, all) : all;
        }
        Map<UUID, Integer> chunks = new HashMap<>();
        for (int i = 0; i < before.size(); i++) {
            if (table.isLive(i)) {
                chunks.put(table.id(i), i);
            }
        }
        Map<Integer, Found> newest = new TreeMap<>();
        for (Found overlay : found) {
            Integer index = wanted.test(overlay) ? chunks.get(overlay.chunk) : null;
            if (index != null) {
                newest.put(index, overlay);
            }
        }
        List<UpdatedChunk> updated = new ArrayList<>();
        Map<String, Set<String>> classes = new TreeMap<>();
        entry.classes().forEach((field, names) -> names(classes, field).addAll(names));
        for (Map.Entry<Integer, Found> chunk : newest.entrySet()) {
            Found overlay = chunk.getValue();
            try {
                updated.add(new UpdatedChunk(
                        table.ordinal(chunk.getKey()),
                        overlay.overlay,
                        largestRow(table.summary(chunk.getKey())
                                .with(overlay.overlay)
                                .with(all))));
                overlay.classes.forEach((field, names) -> names(classes, field).addAll(names));
            } catch (StokerException e) {
                StoreErrors.rethrow(e);
                notes.add("Left out: " + e.getMessage());
            }
        }
        Map<String, List<String>> sorted = new TreeMap<>();
        classes.forEach((field, names) -> sorted.put(field, List.copyOf(names)));
        return new LogEntry(
                entry.dataset(),
                entry.version(),
                entry.ingest(),
                Operation.RECOVERED,
                Math.max(
                        entry.committedMs(),
                        newest.values().stream()
                                .mapToLong(Found::createdMs)
                                .max()
                                .orElse(0)),
                entry.committedBy(),
                entry.added(),
                entry.removed(),
                updated,
                sorted,
                LogEntry.properties(entry.properties(), all));
    }

    /** Returns the given fields and those that only this overlay has. One with a field of another type is left out. */
    private AddedFields withFieldsOf(Found overlay, AddedFields known) {
        try {
            List<Field> base = dataset.info().fields();
            return known.with(AddedFields.of(overlay.fields.stream()
                    .filter(field -> !base.contains(field))
                    .toList()));
        } catch (IllegalArgumentException e) {
            notes.add("Fields of overlay " + overlay.overlay.id() + " are left out: " + e.getMessage());
            return known;
        }
    }

    private static Collection<String> names(Map<String, Set<String>> classes, String field) {
        return classes.computeIfAbsent(field, f -> new TreeSet<>(ClassOrder.INSTANCE));
    }

    private long largestRow(ChunkSummary chunk) throws IOException {
        ChunkHead head = ChunkHeads.read(dataset.store(), chunk);
        long largest = 0;
        for (int row = 0; row < head.rows(); row++) {
            largest = Math.max(largest, head.rowBytes(row));
        }
        return largest;
    }
}
