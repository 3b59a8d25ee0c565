package dev.stoker.metadata.index.build;

import dev.stoker.metadata.index.run.KeyOrder;
import dev.stoker.metadata.index.run.RowCursor;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.index.IndexedRow;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Collects rows in memory and sorts them. Not thread-safe. */
final class RowBuffer {

    private static final int INITIAL_ROWS = 1 << 10;
    private static final int INITIAL_KEY_BYTES = 1 << 16;
    private static final int ROW_BYTES = 6 * Integer.BYTES;

    private byte[] keys = new byte[INITIAL_KEY_BYTES];
    private int keyBytes;
    private int[] ends = new int[INITIAL_ROWS];
    private int[] ordinals = new int[INITIAL_ROWS];
    private int[] rowNumbers = new int[INITIAL_ROWS];
    private int[] lengths = new int[INITIAL_ROWS];
    private int[] crcs = new int[INITIAL_ROWS];
    private int rows;

    /** Adds the row with this key. */
    void add(ArrowColumn keyColumn, int row, IndexedRow place) {
        ByteBuffer key = keyColumn.bytesAt(row);
        int length = key.remaining();
        reserve(length);
        key.get(keys, keyBytes, length);
        keyBytes += length;
        ends[rows] = keyBytes;
        ordinals[rows] = place.ordinal();
        rowNumbers[rows] = place.row();
        lengths[rows] = place.length();
        crcs[rows] = place.crc32c();
        rows++;
    }

    private void reserve(int length) {
        int needed = Math.addExact(keyBytes, length);
        if (needed > keys.length) {
            keys = Arrays.copyOf(keys, grown(needed, keys.length));
        }
        if (rows == ends.length) {
            int capacity = grown(rows + 1, rows);
            ends = Arrays.copyOf(ends, capacity);
            ordinals = Arrays.copyOf(ordinals, capacity);
            rowNumbers = Arrays.copyOf(rowNumbers, capacity);
            lengths = Arrays.copyOf(lengths, capacity);
            crcs = Arrays.copyOf(crcs, capacity);
        }
    }

    private static int grown(int needed, int capacity) {
        return Math.max(needed, (int) Math.min(Integer.MAX_VALUE - 8, capacity + (long) capacity / 2));
    }

    boolean isEmpty() {
        return rows == 0;
    }

    /** Returns the bytes of the rows, with those for sorting them. */
    long bytes() {
        return keyBytes + (long) ROW_BYTES * rows;
    }

    void clear() {
        rows = 0;
        keyBytes = 0;
    }

    private int begin(int row) {
        return row == 0 ? 0 : ends[row - 1];
    }

    /** Returns a cursor over the sorted rows. The buffer must not change until the cursor is at its end. */
    RowCursor sorted() {
        int[] order = new int[rows];
        Arrays.setAll(order, i -> i);
        KeyOrder sort = new KeyOrder(keys, ends, ordinals);
        sort.sort(order);
        return new RowCursor() {
            private int at = -1;

            @Override
            public boolean next() {
                return ++at < order.length;
            }

            @Override
            public byte[] key() {
                return Arrays.copyOfRange(keys, begin(order[at]), ends[order[at]]);
            }

            @Override
            public IndexedRow row() {
                int row = order[at];
                return new IndexedRow(ordinals[row], rowNumbers[row], lengths[row], crcs[row]);
            }
        };
    }
}
