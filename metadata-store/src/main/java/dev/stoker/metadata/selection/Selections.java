package dev.stoker.metadata.selection;

import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.chunks.ParallelChunks;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.condition.RowPredicate;
import dev.stoker.schemas.order.RowSelection;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Selects the rows of a version for which a condition is true: see "Selected rows" in docs/formats/order.md. */
public final class Selections {
    private static final int THREADS = 8;
    /** Names in a message, at most. */
    private static final int LISTED = 20;

    private Selections() {}

    /**
     * Returns the chunks of a split with the rows that a condition selects. Reads the heads of all chunks of the split,
     * unless the dataset keeps the selection; payload is not read.
     *
     * @param where canonical text of the condition; empty for all rows
     * @throws IllegalArgumentException if the condition does not fit the fields of the version, or selects no row
     * @throws dev.stoker.metadata.UnknownSplitException if the split has no samples in this version
     */
    public static StreamChunks stream(ObjectStore store, Snapshot snapshot, String split, String where)
            throws IOException {
        StreamChunks chunks = snapshot.stream(split);
        if (where.isEmpty()) {
            return chunks;
        }
        String version =
                "version " + snapshot.version() + " of " + snapshot.info().name();
        RowExpression expression = RowExpression.parse(where);
        RowPredicate condition = bind(expression, snapshot, version);
        SelectionFile file = new SelectionFile(store, snapshot.info().id(), snapshot.version(), split, chunks, where);
        RowSelection selected = file.read().orElse(null);
        if (selected == null) {
            selected = evaluate(store, snapshot, chunks, condition, where);
            file.write(selected);
        }
        if (selected.rows() == 0) {
            throw new IllegalArgumentException("where \"" + where + "\" selects none of the "
                    + Units.count(chunks.liveRows()) + " rows of " + version + ", split " + split
                    + parts(store, snapshot, chunks, expression, version));
        }
        return chunks.select(selected);
    }

    private static RowPredicate bind(RowExpression expression, Snapshot snapshot, String version) {
        try {
            return bind(expression, snapshot.info().fields());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("where \"" + expression + "\" of " + version + ": " + e.getMessage(), e);
        }
    }

    private static RowPredicate bind(RowExpression expression, List<Field> fields) {
        Map<String, FieldType> types = SampleFilter.types(fields);
        for (String name : expression.columns()) {
            if (!types.containsKey(name)) {
                throw new IllegalArgumentException("there is no column " + name + "; the columns are "
                        + types.keySet().stream().limit(LISTED).collect(Collectors.joining(", "))
                        + (types.size() > LISTED ? ", …" : ""));
            }
        }
        RowPredicate predicate = expression.bind(types);
        Optional<String> payload = new SampleFilter(predicate, fields).comparedPayload();
        if (payload.isPresent()) {
            throw new IllegalArgumentException("the column " + payload.get() + " of type "
                    + Objects.requireNonNull(types.get(payload.get())).canonical()
                    + " is payload, which the condition of a feed cannot compare; only IS NULL and IS NOT NULL work."
                    + " Compare small fields.");
        }
        return predicate;
    }

    private static RowSelection evaluate(
            ObjectStore store, Snapshot snapshot, StreamChunks chunks, RowPredicate condition, String where)
            throws IOException {
        ChunkTable table = snapshot.table();
        int[] counts = new int[chunks.size()];
        Map<Integer, byte[]> bitmaps = new ConcurrentHashMap<>();
        int[] live = IntStream.range(0, chunks.size()).filter(chunks::isLive).toArray();
        ParallelChunks.forEach(live, THREADS, () -> {
            SampleFilter filter = new SampleFilter(condition, snapshot.info().fields());
            return chunk -> {
                int index = table.indexOf(chunks.ordinal(chunk));
                byte[] bitmap = filter.selects(ChunkHeads.read(store, table, index));
                for (int row : chunks.removedRows(chunk)) {
                    bitmap[row >> 3] &= (byte) ~(1 << (row & 7));
                }
                counts[chunk] = SelectionFile.ones(bitmap);
                if (counts[chunk] > 0 && counts[chunk] < chunks.rows(chunk)) {
                    bitmaps.put(chunk, bitmap);
                }
            };
        });
        return new RowSelection(where, counts, bitmaps);
    }

    /** Returns how many rows each part of a condition selects. */
    private static String parts(
            ObjectStore store, Snapshot snapshot, StreamChunks chunks, RowExpression expression, String version)
            throws IOException {
        List<RowExpression> parts = expression.parts();
        if (parts.size() == 1) {
            return "";
        }
        Map<String, Long> counts = new LinkedHashMap<>();
        for (RowExpression part : parts) {
            RowPredicate condition = bind(part, snapshot, version);
            counts.put(
                    part.toString(),
                    evaluate(store, snapshot, chunks, condition, part.toString())
                            .rows());
        }
        return counts.entrySet().stream()
                .map(part -> part.getKey() + " selects " + Units.count(part.getValue()))
                .collect(Collectors.joining(", ", ": ", ""));
    }
}
