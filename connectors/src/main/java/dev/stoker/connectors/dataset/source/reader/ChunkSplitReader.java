package dev.stoker.connectors.dataset.source.reader;

import dev.stoker.connectors.dataset.source.split.ChunkSplit;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import org.apache.flink.connector.base.source.reader.RecordsWithSplitIds;
import org.apache.flink.connector.base.source.reader.splitreader.SplitReader;
import org.apache.flink.connector.base.source.reader.splitreader.SplitsChange;
import org.jspecify.annotations.Nullable;

/** Reads the chunks of the assigned splits one after the other. Runs on the fetcher's thread. */
final class ChunkSplitReader implements SplitReader<ChunkRow, ChunkSplit> {

    private static final int[] NO_ROWS = {};

    private final ReaderStore store;
    private final Deque<ChunkSplit> splits = new ArrayDeque<>();
    private int chunk;

    ChunkSplitReader(ReaderStore store) {
        this.store = store;
    }

    @Override
    public RecordsWithSplitIds<ChunkRow> fetch() throws IOException {
        ChunkSplit split = splits.element();
        if (store.isLimitReached()) {
            endSplit();
            return new ChunkRecords(split.splitId(), Set.of(split.splitId()), null, NO_ROWS);
        }
        ChunkLoader.Loaded loaded =
                store.load(split.version(), split.chunks().get(chunk), chunk == 0 ? split.row() : 0);
        chunk++;
        boolean isLast = chunk == split.chunks().size();
        if (isLast) {
            endSplit();
        }
        return new ChunkRecords(
                split.splitId(), isLast ? Set.of(split.splitId()) : Set.of(), loaded.cursor(), loaded.rows());
    }

    private void endSplit() {
        splits.remove();
        chunk = 0;
    }

    @Override
    public void handleSplitsChanges(SplitsChange<ChunkSplit> change) {
        splits.addAll(change.splits());
    }

    @Override
    public void wakeUp() {}

    @Override
    public void close() {}

    /** The wanted rows of one loaded chunk. The task's thread reads them. */
    private static final class ChunkRecords implements RecordsWithSplitIds<ChunkRow> {

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
}
