package dev.stoker.connectors.dataset.source.reader;

import java.util.Set;
import org.apache.flink.connector.base.source.reader.RecordsWithSplitIds;
import org.jspecify.annotations.Nullable;

/** The wanted rows of one loaded chunk. The task's thread reads them. */
final class ChunkRecords implements RecordsWithSplitIds<ChunkRow> {

    private final String split;
    private final Set<String> finished;
    private final @Nullable ChunkRow cursor;
    private final int[] rows;
    private boolean isBegun;
    private int next;

    /**
     * @param finished the split if this is its end
     * @param cursor the loaded chunk; null if it has no wanted rows
     * @param rows the wanted rows, ascending
     */
    ChunkRecords(String split, Set<String> finished, @Nullable ChunkRow cursor, int[] rows) {
        this.split = split;
        this.finished = finished;
        this.cursor = cursor;
        this.rows = rows;
    }

    @Override
    public @Nullable String nextSplit() {
        if (isBegun || rows.length == 0) {
            return null;
        }
        isBegun = true;
        return split;
    }

    @Override
    public @Nullable ChunkRow nextRecordFromSplit() {
        return cursor == null || next == rows.length ? null : cursor.at(rows[next++]);
    }

    @Override
    public Set<String> finishedSplits() {
        return finished;
    }
}
