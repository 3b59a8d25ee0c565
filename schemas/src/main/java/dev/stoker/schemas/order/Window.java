package dev.stoker.schemas.order;

import java.util.Arrays;

/**
 * Contains the rows of one window of a lane in their order; step 4 of the order function. Immutable and thread-safe.
 * Needs 8 bytes for each row.
 */
public final class Window {
    private final int index;
    private final long firstRow;
    /** In the lane's sequence. */
    private final int[] chunks;

    private final int[] places;
    private final int[] rows;

    private Window(int index, long firstRow, int[] chunks, int[] places, int[] rows) {
        this.index = index;
        this.firstRow = firstRow;
        this.chunks = chunks;
        this.places = places;
        this.rows = rows;
    }

    static Window compute(LaneEpoch lane, int w) {
        StreamChunks all = lane.stream().chunks();
        int[] chunks = lane.windowChunks(w);
        int n = lane.windowRows(w);
        // Indexes of the window's chunks in ascending ordinal, which decides between equal keys.
        long[] byIndex = new long[chunks.length];
        for (int place = 0; place < chunks.length; place++) {
            byIndex[place] = (long) chunks[place] << 32 | place;
        }
        Arrays.sort(byIndex);
        int[] places = new int[n];
        int[] rows = new int[n];
        int at = 0;
        for (long packed : byIndex) {
            at = liveRows(all, (int) (packed >>> 32), (int) packed, places, rows, at);
        }
        OrderSpec spec = lane.stream().spec();
        if (spec.shuffle() == ShufflePolicy.WINDOW) {
            long prefix = OrderHash.key(spec.seed(), OrderHash.ROWS, lane.epoch(), lane.lane(), w);
            long[] keys = new long[n];
            long chunkKey = 0;
            for (int i = 0; i < n; i++) {
                if (i == 0 || places[i] != places[i - 1]) {
                    chunkKey = OrderHash.fold(prefix, all.ordinal(chunks[places[i]]));
                }
                keys[i] = OrderHash.fold(chunkKey, rows[i]);
            }
            int[] order = KeySort.order(keys);
            places = pick(places, order);
            rows = pick(rows, order);
        }
        return new Window(w, lane.windowFirstRow(w), chunks, places, rows);
    }

    private static int liveRows(StreamChunks all, int chunk, int place, int[] places, int[] rows, int from) {
        int[] live = all.rowsOf(chunk);
        Arrays.fill(places, from, from + live.length, place);
        System.arraycopy(live, 0, rows, from, live.length);
        return from + live.length;
    }

    private static int[] pick(int[] values, int[] order) {
        int[] picked = new int[order.length];
        for (int i = 0; i < order.length; i++) {
            picked[i] = values[order[i]];
        }
        return picked;
    }

    /** Returns the window's number in its lane. */
    public int index() {
        return index;
    }

    /** Returns the index of its first row in the lane's epoch. */
    public long firstRow() {
        return firstRow;
    }

    /** Returns the number of rows. */
    public int rows() {
        return rows.length;
    }

    /** Returns the number of chunks, including those without a live row. */
    public int chunks() {
        return chunks.length;
    }

    /** Returns the chunk at an index of the window, as an index into the stream's chunks. */
    public int chunk(int place) {
        return chunks[place];
    }

    /** Returns the chunk of the i-th row, as an index for {@link #chunk}. */
    public int placeAt(int i) {
        return places[i];
    }

    /** Returns the chunk of the i-th row, as an index into the stream's chunks. */
    public int chunkAt(int i) {
        return chunks[places[i]];
    }

    /** Returns the i-th row's index in its chunk. */
    public int rowAt(int i) {
        return rows[i];
    }
}
