package dev.stoker.metadata.index.run;

import java.util.Arrays;

/**
 * Sorts rows by the unsigned bytes of their keys, and rows with equal keys by descending ordinal: a quicksort that
 * compares one byte at a time, so it does not compare common prefixes again and again (Bentley and Sedgewick, "Fast
 * algorithms for sorting and searching strings", 1997).
 */
public final class KeyOrder {

    /** Below this number of rows, insertion sort is faster. */
    private static final int SMALL = 16;

    private static final int LESS = -1;
    private static final int EQUAL = 0;
    private static final int GREATER = 1;

    private final byte[] keys;
    private final int[] ends;
    private final int[] ordinals;

    /**
     * @param keys the keys, one after the other
     * @param ends the end of each row's key
     * @param ordinals the ordinal of each row
     */
    public KeyOrder(byte[] keys, int[] ends, int[] ordinals) {
        this.keys = keys;
        this.ends = ends;
        this.ordinals = ordinals;
    }

    /** Sorts row numbers. */
    public void sort(int[] rows) {
        sort(rows, 0, rows.length, 0);
    }

    /** Sorts rows whose first {@code depth} bytes are equal. */
    private void sort(int[] rows, int from, int to, int depth) {
        int low = from;
        int high = to;
        int equal = depth;
        while (high - low > SMALL) {
            int pivot = median(rows, low, high, equal);
            int less = low;
            int greater = high - 1;
            for (int i = low; i <= greater; ) {
                int value = byteAt(rows[i], equal);
                if (value < pivot) {
                    swap(rows, less++, i++);
                } else if (value > pivot) {
                    swap(rows, i, greater--);
                } else {
                    i++;
                }
            }
            int end = greater + 1;
            // Recursion takes the smaller parts, so its depth is at most the logarithm of the rows.
            int lessCount = less - low;
            int equalCount = end - less;
            int greaterCount = high - end;
            int largest = largest(lessCount, equalCount, greaterCount);
            if (largest != LESS) {
                sort(rows, low, less, equal);
            }
            if (largest != EQUAL || pivot < 0) {
                sortEqual(rows, less, end, equal, pivot);
            }
            if (largest != GREATER) {
                sort(rows, end, high, equal);
            }
            if (largest == LESS) {
                high = less;
            } else if (largest == GREATER) {
                low = end;
            } else if (pivot < 0) {
                return;
            } else {
                low = less;
                high = end;
                equal++;
            }
        }
        insertion(rows, low, high, equal);
    }

    private static int largest(int less, int equal, int greater) {
        if (less >= equal && less >= greater) {
            return LESS;
        }
        return equal >= greater ? EQUAL : GREATER;
    }

    private void sortEqual(int[] rows, int from, int to, int depth, int pivot) {
        if (pivot >= 0) {
            sort(rows, from, to, depth + 1);
            return;
        }
        // The keys end here, so they are equal.
        Integer[] same = new Integer[to - from];
        Arrays.setAll(same, i -> rows[from + i]);
        Arrays.sort(same, (a, b) -> Integer.compare(ordinals[b], ordinals[a]));
        for (int i = 0; i < same.length; i++) {
            rows[from + i] = same[i];
        }
    }

    private void insertion(int[] rows, int from, int to, int depth) {
        for (int i = from + 1; i < to; i++) {
            int row = rows[i];
            int j = i - 1;
            while (j >= from && compare(rows[j], row, depth) > 0) {
                rows[j + 1] = rows[j];
                j--;
            }
            rows[j + 1] = row;
        }
    }

    private int compare(int left, int right, int depth) {
        int order =
                Arrays.compareUnsigned(keys, begin(left) + depth, ends[left], keys, begin(right) + depth, ends[right]);
        return order != 0 ? order : Integer.compare(ordinals[right], ordinals[left]);
    }

    private int median(int[] rows, int low, int high, int depth) {
        int a = byteAt(rows[low], depth);
        int b = byteAt(rows[(low + high) >>> 1], depth);
        int c = byteAt(rows[high - 1], depth);
        return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
    }

    /** Returns a byte of a key, or -1 after its end. */
    private int byteAt(int row, int depth) {
        int at = begin(row) + depth;
        return at < ends[row] ? keys[at] & 0xFF : -1;
    }

    private int begin(int row) {
        return row == 0 ? 0 : ends[row - 1];
    }

    private static void swap(int[] rows, int i, int j) {
        int row = rows[i];
        rows[i] = rows[j];
        rows[j] = row;
    }
}
