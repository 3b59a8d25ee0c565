package dev.stoker.schemas.table;

import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkOverlay;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.chunk.RowSize;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.ExpiredVersions;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.order.ExpectedChunk;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.order.StreamChunksBuilder;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Contains all chunks that a dataset ever had, in their state at one version. Columnar. Chunks are identified by their
 * <em>index</em>, 0 … {@link #size()}-1, which is not the ordinal. Immutable and thread-safe.
 *
 * <p>A chunk is live while it has rows. A chunk whose rows were removed one by one has the same state as a chunk that
 * was removed whole.
 */
public final class ChunkTable {

    /** The format version that this release writes, and the newest that it reads. */
    public static final int FORMAT = 1;

    private static final int[] NONE = {};

    private final TableColumns columns;

    ChunkTable(TableColumns columns) {
        this.columns = columns;
    }

    /** Returns the table of version 0, without chunks and classes. */
    public static ChunkTable empty(UUID dataset) {
        return new ChunkTable(new TableColumns(dataset));
    }

    /** Returns the table of version 0 of a dataset, with the classes that it declares. */
    public static ChunkTable empty(DatasetInfo info) {
        TableColumns columns = new TableColumns(info.id());
        columns.classes = ClassTable.of(info.classes());
        return new ChunkTable(columns);
    }

    /**
     * Returns the table after further commits.
     *
     * @param entries entries of the versions that follow this table's, in order
     * @throws CorruptDataException if an entry does not follow the one before, or removes rows that do not exist
     */
    public ChunkTable with(Iterable<LogEntry> entries) throws CorruptDataException {
        TableColumns next = columns.copy();
        for (LogEntry entry : entries) {
            next.apply(entry);
        }
        return new ChunkTable(next);
    }

    /** Returns the table after one further commit. */
    public ChunkTable with(LogEntry entry) throws CorruptDataException {
        return with(List.of(entry));
    }

    /** Returns the same table with other class names. */
    public ChunkTable withClasses(ClassTable classes) {
        TableColumns next = columns.copy();
        next.classes = classes;
        return new ChunkTable(next);
    }

    /** Encodes the content of a chunk table's file. */
    public byte[] encode() {
        return TableFormat.encode(columns);
    }

    /**
     * Reads a chunk table's file.
     *
     * @param file its name as the user knows it
     */
    public static ChunkTable decode(byte[] content, String file) throws StokerException {
        return new ChunkTable(TableFormat.decode(content, file));
    }

    /** Returns the dataset's id. */
    public UUID dataset() {
        return columns.dataset;
    }

    public long version() {
        return columns.version;
    }

    /** Returns the number of all chunks, including removed ones. */
    public int size() {
        return columns.size;
    }

    /** Returns the split names, in the order of their first commit. */
    public List<String> splits() {
        return List.copyOf(columns.splits);
    }

    public ClassTable classes() {
        return columns.classes;
    }

    /** The newest version that was ingested from a topic, if there is one. */
    public OptionalLong topicVersion(String topic) {
        Long version = columns.topics.get(topic);
        return version == null ? OptionalLong.empty() : OptionalLong.of(version);
    }

    /** The newest version that was rebuilt from chunk heads, which do not name a topic; 0 if there is none. */
    public long recoveredVersion() {
        return columns.recovered;
    }

    /** Returns the versions that were expired up to this version. */
    public ExpiredVersions expired() {
        return columns.expired;
    }

    /** Returns the fields that the version has beside those of dataset.json. */
    public AddedFields added() {
        return columns.added;
    }

    public long ordinal(int index) {
        return columns.ordinals[index];
    }

    /** Returns the index of an ordinal, or a negative number. */
    public int indexOf(long ordinal) {
        // Ordinals have gaps only after a recovery.
        if (ordinal >= 0 && ordinal < columns.size && columns.ordinals[(int) ordinal] == ordinal) {
            return (int) ordinal;
        }
        return Arrays.binarySearch(columns.ordinals, 0, columns.size, ordinal);
    }

    /** Returns the greatest ordinal ever, or -1. */
    public long lastOrdinal() {
        return columns.size == 0 ? -1 : columns.ordinals[columns.size - 1];
    }

    public UUID id(int index) {
        return new UUID(columns.idHigh[index], columns.idLow[index]);
    }

    /** Returns the version that added the chunk. */
    public long addedIn(int index) {
        return columns.addedIn[index];
    }

    public String split(int index) {
        return columns.splits.get(columns.split[index]);
    }

    public boolean isLive(int index) {
        return columns.liveRows[index] > 0;
    }

    /** Returns the number of rows at commit, which the file contains. */
    public int rows(int index) {
        return columns.rows[index];
    }

    /** Returns the number of rows that are still part of the version. */
    public int liveRows(int index) {
        return columns.liveRows[index];
    }

    /**
     * Returns a copy of the rows of a live chunk that were removed since its commit, ascending; empty for a chunk that
     * was removed whole.
     */
    public int[] removedRows(int index) {
        return columns.removed.getOrDefault(index, NONE).clone();
    }

    /** Returns whether a row of a chunk is part of the version. */
    public boolean isLive(int index, int row) {
        int live = columns.liveRows[index];
        if (live == columns.rows[index] || live == 0) {
            return live > 0 && row < live;
        }
        return row < columns.rows[index] && Arrays.binarySearch(columns.removed.getOrDefault(index, NONE), row) < 0;
    }

    /** Returns the length of the file in bytes. */
    public int length(int index) {
        return columns.lengths[index];
    }

    /** Returns the CRC-32C of the file. */
    public int crc32c(int index) {
        return columns.crcs[index];
    }

    /** Returns the number of bytes before the first payload data buffer. */
    public int headLength(int index) {
        return columns.headLengths[index];
    }

    /** Returns the CRC-32C of the head. */
    public int headCrc32c(int index) {
        return columns.headCrcs[index];
    }

    /** Returns an upper bound of the bytes of any row in a batch. */
    public int largestRow(int index) {
        return columns.largestRows[index];
    }

    /** Returns the overlay of a live chunk; null if it has none. */
    public @Nullable ChunkOverlay overlay(int index) {
        return columns.overlays.get(index);
    }

    /** Returns the ids of the overlays of all live chunks. */
    public Set<UUID> overlays() {
        return columns.overlays.values().stream().map(ChunkOverlay::id).collect(Collectors.toSet());
    }

    /** Returns the log's data on the chunk, for checks of its file. */
    public ChunkSummary summary(int index) {
        return new ChunkSummary(
                id(index),
                split(index),
                rows(index),
                length(index),
                crc32c(index),
                headLength(index),
                headCrc32c(index),
                largestRow(index),
                overlay(index),
                added());
    }

    /** Returns the number of samples of the version, over all splits. */
    public long liveRows() {
        long rows = 0;
        for (int i = 0; i < columns.size; i++) {
            rows += columns.liveRows[i];
        }
        return rows;
    }

    /** Returns the number of chunks of the version, over all splits. */
    public int liveChunks() {
        int chunks = 0;
        for (int i = 0; i < columns.size; i++) {
            chunks += columns.liveRows[i] > 0 ? 1 : 0;
        }
        return chunks;
    }

    /** Returns the bytes of the version's chunk files, over all splits. */
    public long liveBytes() {
        long bytes = 0;
        for (int i = 0; i < columns.size; i++) {
            bytes += columns.liveRows[i] > 0 ? columns.lengths[i] : 0;
        }
        return bytes;
    }

    /** Returns the chunks of a split, with removed ones as ghosts; no chunks for a split that never existed. */
    public StreamChunks stream(String split) {
        int number = columns.splits.indexOf(split);
        int count = 0;
        for (int i = 0; i < columns.size; i++) {
            count += columns.split[i] == number ? 1 : 0;
        }
        StreamChunksBuilder stream = StreamChunks.builder(count).added(added());
        long nulls = added().fields().stream()
                .mapToLong(field -> RowSize.of(field.type(), true, 0))
                .sum();
        for (int i = 0; i < columns.size; i++) {
            if (columns.split[i] != number) {
                continue;
            }
            if (!isLive(i)) {
                stream.addGhost(ordinal(i), rows(i));
                continue;
            }
            // The chunk may lack the added fields, which are null then.
            ExpectedChunk file = new ExpectedChunk(
                    length(i), crc32c(i), headLength(i), headCrc32c(i), largestRow(i) + nulls, overlay(i));
            stream.addLive(ordinal(i), id(i), rows(i), columns.removed.getOrDefault(i, NONE), file);
        }
        return stream.build();
    }
}
