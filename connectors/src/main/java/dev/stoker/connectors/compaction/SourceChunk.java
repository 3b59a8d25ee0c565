package dev.stoker.connectors.compaction;

import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.table.ChunkTable;

/**
 * A chunk that is to be rewritten.
 *
 * @param index in the chunk table of the plan's version
 * @param ordinal its number in the dataset
 * @param summary what its file must be
 * @param liveRows rows that the version still has
 */
record SourceChunk(int index, long ordinal, ChunkSummary summary, int liveRows) {

    static SourceChunk of(ChunkTable table, int index) {
        return new SourceChunk(index, table.ordinal(index), table.summary(index), table.liveRows(index));
    }

    /** What its live rows take, more or less. */
    long liveBytes() {
        return Math.max(1, (long) ((double) summary.length() * liveRows / summary.rows()));
    }

    /** Whether so many rows were removed that it is worth writing alone. */
    boolean isSparse() {
        return 2L * liveRows <= summary.rows();
    }

    /** Whether the version still has just these rows of it; removed ones never come back. */
    boolean isUnchanged(ChunkTable table) {
        int now = table.indexOf(ordinal);
        return now >= 0 && table.id(now).equals(summary.id()) && table.liveRows(now) == liveRows;
    }
}
