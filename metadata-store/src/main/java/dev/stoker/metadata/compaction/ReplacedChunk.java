package dev.stoker.metadata.compaction;

import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.table.ChunkTable;
import java.io.Serializable;

/**
 * A chunk to rewrite.
 *
 * @param index in the chunk table of the plan's version
 * @param ordinal its number in the dataset
 * @param summary the expected contents of its file
 * @param liveRows its rows that are in the version
 */
record ReplacedChunk(int index, long ordinal, ChunkSummary summary, int liveRows) implements Serializable {

    private static final long serialVersionUID = 1;

    static ReplacedChunk of(ChunkTable table, int index) {
        return new ReplacedChunk(index, table.ordinal(index), table.summary(index), table.liveRows(index));
    }

    /** The approximate size of its live rows. */
    long liveBytes() {
        return Math.max(1, (long) ((double) summary.length() * liveRows / summary.rows()));
    }

    /** Whether enough rows were removed to rewrite this chunk even alone. */
    boolean isSparse() {
        return 2L * liveRows <= summary.rows();
    }

    /** Whether the version still has the same rows and values of the chunk. Removed rows never return. */
    boolean isUnchanged(ChunkTable table) {
        int now = table.indexOf(ordinal);
        return now >= 0 && table.summary(now).equals(summary) && table.liveRows(now) == liveRows;
    }
}
