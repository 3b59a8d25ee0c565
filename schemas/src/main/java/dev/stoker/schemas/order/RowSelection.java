package dev.stoker.schemas.order;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a stream for which a condition is true: see "Selected rows" in docs/formats/order.md. Immutable and
 * thread-safe, provided that nobody changes the arrays that it was given.
 */
public final class RowSelection {
    private final String where;
    private final int[] counts;
    private final Map<Integer, byte[]> bitmaps;
    private final long rows;

    /**
     * @param where canonical text of the condition, not empty
     * @param counts selected rows of each chunk, by its index in the stream; 0 for chunks that are not live
     * @param bitmaps of the chunks of which some rows are selected and some are not, by index: the bit row mod 8 of the
     *     byte row / 8 is set for a selected row
     */
    public RowSelection(String where, int[] counts, Map<Integer, byte[]> bitmaps) {
        if (where.isEmpty()) {
            throw new IllegalArgumentException("rows are selected by a condition");
        }
        this.where = where;
        this.counts = counts;
        this.bitmaps = Map.copyOf(bitmaps);
        long sum = 0;
        for (int count : counts) {
            sum += count;
        }
        rows = sum;
    }

    /** Returns the canonical text of the condition. */
    public String where() {
        return where;
    }

    /** Returns the number of selected rows of the stream. */
    public long rows() {
        return rows;
    }

    /** Returns the number of selected rows of a chunk, by its index in the stream. */
    public int count(int index) {
        return counts[index];
    }

    /** Returns the bitmap of a chunk; null if all or none of its rows are selected. */
    public byte @Nullable [] bitmap(int index) {
        return bitmaps.get(index);
    }

    int size() {
        return counts.length;
    }
}
