package dev.stoker.schemas.table;

import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkOverlay;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.log.AddedChunk;
import dev.stoker.schemas.log.ExpiredVersions;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.schemas.log.UpdatedChunk;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Collects the columns of a chunk table during construction. Not thread-safe. The columns do not change after a table
 * has been built from them.
 */
final class TableColumns {

    final UUID dataset;
    long version;
    int size;
    ClassTable classes = ClassTable.EMPTY;
    final List<String> splits = new ArrayList<>();
    /** By topic the newest version that was ingested from it. */
    final TreeMap<String, Long> topics = new TreeMap<>();
    /** The newest version that was rebuilt from chunk heads, which do not name topics; 0 for none. */
    long recovered;

    /** The versions that were expired. */
    ExpiredVersions expired = ExpiredVersions.NONE;

    /** The fields that the version has beside those of dataset.json. */
    AddedFields added = AddedFields.NONE;

    long[] ordinals = {};
    long[] idHigh = {};
    long[] idLow = {};
    long[] addedIn = {};
    int[] split = {};
    int[] rows = {};
    int[] liveRows = {};
    int[] lengths = {};
    int[] crcs = {};
    int[] headLengths = {};
    int[] headCrcs = {};
    int[] largestRows = {};
    /** Removed rows of live chunks, ascending, by index. The arrays never change. */
    final Map<Integer, int[]> removed = new HashMap<>();
    /** Overlays of live chunks, by index. */
    final Map<Integer, ChunkOverlay> overlays = new HashMap<>();

    TableColumns(UUID dataset) {
        this.dataset = dataset;
    }

    TableColumns copy() {
        TableColumns copy = new TableColumns(dataset);
        copy.version = version;
        copy.size = size;
        copy.classes = classes;
        copy.splits.addAll(splits);
        copy.topics.putAll(topics);
        copy.recovered = recovered;
        copy.expired = expired;
        copy.added = added;
        copy.ordinals = ordinals.clone();
        copy.idHigh = idHigh.clone();
        copy.idLow = idLow.clone();
        copy.addedIn = addedIn.clone();
        copy.split = split.clone();
        copy.rows = rows.clone();
        copy.liveRows = liveRows.clone();
        copy.lengths = lengths.clone();
        copy.crcs = crcs.clone();
        copy.headLengths = headLengths.clone();
        copy.headCrcs = headCrcs.clone();
        copy.largestRows = largestRows.clone();
        copy.removed.putAll(removed);
        copy.overlays.putAll(overlays);
        return copy;
    }

    void apply(LogEntry entry) throws CorruptDataException {
        String name = "Log entry " + entry.version() + " of dataset " + dataset;
        if (!entry.dataset().equals(dataset) || entry.version() != version + 1) {
            throw new CorruptDataException(name + ": it is entry " + entry.version() + " of dataset " + entry.dataset()
                    + ", expected entry " + (version + 1) + "; run `stoker verify`");
        }
        version = entry.version();
        // Apply removals and updates first: an entry never removes or updates chunks that it adds.
        for (RemovedRows gone : entry.removed()) {
            remove(gone, name);
        }
        for (UpdatedChunk updated : entry.updated()) {
            update(updated, name);
        }
        reserve(entry.added().size());
        for (AddedChunk chunk : entry.added()) {
            if (size > 0 && chunk.ordinal() <= ordinals[size - 1]) {
                throw new CorruptDataException(name + ": chunk " + chunk.id() + " has the ordinal " + chunk.ordinal()
                        + ", expected more than " + ordinals[size - 1] + "; run `stoker verify`");
            }
            add(chunk);
        }
        classes = classes.with(entry.classes()).without(entry.erasedClasses());
        entry.topic().ifPresent(topic -> topics.put(topic, version));
        if (entry.operation() == Operation.RECOVERED) {
            recovered = version;
        }
        try {
            expired = expired.with(entry.expired().ranges());
            added = added.with(entry.addedFields());
        } catch (IllegalArgumentException e) {
            throw new CorruptDataException(name + ": " + e.getMessage() + "; run `stoker verify`", e);
        }
    }

    private void add(AddedChunk chunk) {
        int i = size++;
        ordinals[i] = chunk.ordinal();
        idHigh[i] = chunk.id().getMostSignificantBits();
        idLow[i] = chunk.id().getLeastSignificantBits();
        addedIn[i] = version;
        split[i] = splitNumber(chunk.split());
        rows[i] = chunk.rows();
        liveRows[i] = chunk.rows();
        lengths[i] = (int) chunk.length();
        crcs[i] = chunk.crc32c();
        headLengths[i] = (int) chunk.headLength();
        headCrcs[i] = chunk.headCrc32c();
        largestRows[i] = (int) chunk.largestRow();
    }

    private int splitNumber(String name) {
        int number = splits.indexOf(name);
        if (number < 0) {
            splits.add(name);
            return splits.size() - 1;
        }
        return number;
    }

    private void remove(RemovedRows gone, String name) throws CorruptDataException {
        int i = Arrays.binarySearch(ordinals, 0, size, gone.ordinal());
        if (i < 0) {
            throw new CorruptDataException(
                    name + " removes rows of chunk " + gone.ordinal() + ", which no version has; run `stoker verify`");
        }
        int[] goneRows = gone.rows().orElse(null);
        if (goneRows == null) {
            end(i);
            return;
        }
        int last = goneRows[goneRows.length - 1];
        if (last >= rows[i]) {
            throw new CorruptDataException(name + " removes row " + last + " of chunk " + gone.ordinal()
                    + ", which has " + rows[i] + " rows; run `stoker verify`");
        }
        if (liveRows[i] == 0) {
            return;
        }
        int[] all = union(removed.getOrDefault(i, new int[0]), goneRows);
        liveRows[i] = rows[i] - all.length;
        if (liveRows[i] == 0) {
            end(i);
        } else {
            removed.put(i, all);
        }
    }

    /** No row of the chunk is left. */
    private void end(int i) {
        liveRows[i] = 0;
        removed.remove(i);
        overlays.remove(i);
    }

    private void update(UpdatedChunk updated, String name) throws CorruptDataException {
        int i = Arrays.binarySearch(ordinals, 0, size, updated.ordinal());
        if (i < 0 || liveRows[i] == 0) {
            throw new CorruptDataException(name + " updates chunk " + updated.ordinal()
                    + ", which is not part of the version; run `stoker verify`");
        }
        overlays.put(i, updated.overlay());
        largestRows[i] = (int) updated.largestRow();
    }

    private static int[] union(int[] a, int[] b) {
        int[] all = Arrays.copyOf(a, a.length + b.length);
        System.arraycopy(b, 0, all, a.length, b.length);
        return Arrays.stream(all).sorted().distinct().toArray();
    }

    void reserve(int more) {
        int needed = Math.addExact(size, more);
        if (needed <= ordinals.length) {
            return;
        }
        int capacity = (int) Math.min(Integer.MAX_VALUE - 8, Math.max(needed, size + (long) size / 2));
        ordinals = Arrays.copyOf(ordinals, capacity);
        idHigh = Arrays.copyOf(idHigh, capacity);
        idLow = Arrays.copyOf(idLow, capacity);
        addedIn = Arrays.copyOf(addedIn, capacity);
        split = Arrays.copyOf(split, capacity);
        rows = Arrays.copyOf(rows, capacity);
        liveRows = Arrays.copyOf(liveRows, capacity);
        lengths = Arrays.copyOf(lengths, capacity);
        crcs = Arrays.copyOf(crcs, capacity);
        headLengths = Arrays.copyOf(headLengths, capacity);
        headCrcs = Arrays.copyOf(headCrcs, capacity);
        largestRows = Arrays.copyOf(largestRows, capacity);
    }
}
