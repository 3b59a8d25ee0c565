package dev.stoker.metadata.index.build;

import dev.stoker.metadata.index.run.RowCursor;
import dev.stoker.schemas.index.IndexedRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Merges cursors. A row that several cursors have is returned once: two runs have it if they cover the same version.
 * Not thread-safe. Closing it closes the cursors.
 */
public final class RowMerge implements RowCursor {

    private final List<RowCursor> all;
    private final PriorityQueue<RowCursor> heads = new PriorityQueue<>(RowCursor::compare);
    private @Nullable RowCursor current;
    private byte[] key = {};
    private IndexedRow row = new IndexedRow(0, 0, 0, 0);

    /** @param cursors cursors before their first row */
    public RowMerge(List<? extends RowCursor> cursors) throws IOException {
        all = new ArrayList<>(cursors);
        for (RowCursor cursor : cursors) {
            push(cursor);
        }
    }

    private void push(RowCursor cursor) throws IOException {
        if (cursor.next()) {
            heads.add(cursor);
        }
    }

    @Override
    public boolean next() throws IOException {
        boolean isSame;
        do {
            if (current != null) {
                push(current);
            }
            byte[] lastKey = key;
            int lastOrdinal = row.ordinal();
            boolean isFirst = current == null && lastKey.length == 0;
            current = heads.poll();
            if (current == null) {
                return false;
            }
            key = current.key();
            row = current.row();
            isSame = !isFirst && row.ordinal() == lastOrdinal && Arrays.equals(key, lastKey);
        } while (isSame);
        return true;
    }

    @Override
    public byte[] key() {
        return key;
    }

    @Override
    public IndexedRow row() {
        return row;
    }

    @Override
    public void close() throws IOException {
        IOException failure = null;
        for (RowCursor cursor : all) {
            try {
                cursor.close();
            } catch (IOException e) {
                failure = e;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
