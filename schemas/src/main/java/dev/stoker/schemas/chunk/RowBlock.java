package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.FixedValues;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive rows, column by column. The arrays are shared with their owner.
 *
 * @param keys the keys, UTF-8, one after the other; none is empty
 * @param keyEnds end of each key in the array
 * @param values the values of each field; null for a field that is null in all rows
 */
public record RowBlock(byte[] keys, int[] keyEnds, @Nullable FixedValues[] values) {
    /** Returns the length of the longest of these keys. */
    int longestKey(int first, int count) {
        int longest = 0;
        int start = first == 0 ? 0 : keyEnds[first - 1];
        for (int row = first; row < first + count; row++) {
            longest = Math.max(longest, keyEnds[row] - start);
            start = keyEnds[row];
        }
        return longest;
    }
}
