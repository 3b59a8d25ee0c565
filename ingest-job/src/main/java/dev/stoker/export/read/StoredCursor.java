package dev.stoker.export.read;

import dev.stoker.schemas.order.StreamChunks;

/** Walks over live rows, chunk by chunk in ascending ordinal. */
final class StoredCursor implements ExportCursor {
    private final StreamChunks chunks;
    private int chunk = -1;
    private int row;
    private int rows;
    private int[] removed = {};
    private int nextRemoved;

    /** @param first number of live rows to leave out */
    StoredCursor(StreamChunks chunks, long first) {
        this.chunks = chunks;
        long left = first;
        int index = 0;
        while (index < chunks.size() && chunks.liveRows(index) <= left) {
            left -= chunks.liveRows(index);
            index++;
        }
        begin(index);
        for (long i = 0; i < left; i++) {
            next();
        }
    }

    private void begin(int index) {
        chunk = index;
        row = -1;
        rows = 0;
        nextRemoved = 0;
        if (index < chunks.size() && chunks.isLive(index)) {
            rows = chunks.rows(index);
            removed = chunks.removedRows(index);
        }
    }

    @Override
    public boolean next() {
        while (chunk < chunks.size()) {
            row++;
            while (nextRemoved < removed.length && removed[nextRemoved] == row && row < rows) {
                nextRemoved++;
                row++;
            }
            if (row < rows) {
                return true;
            }
            begin(chunk + 1);
        }
        return false;
    }

    @Override
    public int chunk() {
        return chunk;
    }

    @Override
    public int row() {
        return row;
    }
}
