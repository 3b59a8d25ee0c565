package dev.stoker.metadata.removal;

import dev.stoker.schemas.log.RemovedRows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;

/** Collects rows of chunks. Uses 4 to 8 bytes for a row, and some hundred for a chunk. For one thread. */
public final class RowsByChunk {

    private final TreeMap<Long, Rows> chunks = new TreeMap<>();

    /** Rows in the order in which they were added. */
    private static final class Rows {
        private int[] rows = new int[4];
        private int count;

        void add(int row) {
            if (count == rows.length) {
                rows = Arrays.copyOf(rows, 2 * count);
            }
            rows[count++] = row;
        }

        int[] sorted() {
            return Arrays.stream(rows, 0, count).sorted().distinct().toArray();
        }
    }

    /** Adds a row of the chunk with an ordinal. */
    public void add(long ordinal, int row) {
        chunks.computeIfAbsent(ordinal, o -> new Rows()).add(row);
    }

    /** Adds single rows of a chunk. */
    public void add(RemovedRows removed) {
        int[] rows =
                removed.rows().orElseThrow(() -> new IllegalArgumentException("A whole chunk, expected single rows"));
        for (int row : rows) {
            add(removed.ordinal(), row);
        }
    }

    /** Adds the rows of several chunks. */
    public void addAll(Iterable<RemovedRows> removed) {
        removed.forEach(this::add);
    }

    public boolean isEmpty() {
        return chunks.isEmpty();
    }

    /** Returns the rows, each of them once, in ascending ordinal. */
    public List<RemovedRows> list() {
        List<RemovedRows> all = new ArrayList<>();
        chunks.forEach((ordinal, rows) -> all.add(RemovedRows.of(ordinal, rows.sorted())));
        return all;
    }
}
