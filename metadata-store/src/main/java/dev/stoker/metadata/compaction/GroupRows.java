package dev.stoker.metadata.compaction;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.order.KeyHash;
import dev.stoker.schemas.order.KeySort;
import java.util.List;
import java.util.OptionalLong;

/** The live rows of a group's chunks, in the order in which they are written. Takes about 30 bytes per row. */
final class GroupRows {

    private final int[] chunks;
    private final int[] rows;
    private final int[] order;

    private GroupRows(int[] chunks, int[] rows, int[] order) {
        this.chunks = chunks;
        this.rows = rows;
        this.order = order;
    }

    /** @param shuffleSeed seed of the keyed hash by which rows are sorted; empty keeps their order */
    static GroupRows of(List<LoadedChunk> loaded, OptionalLong shuffleSeed) {
        int count = loaded.stream().mapToInt(chunk -> chunk.rows().length).sum();
        int[] chunks = new int[count];
        int[] rows = new int[count];
        long[] keys = new long[count];
        int n = 0;
        for (int c = 0; c < loaded.size(); c++) {
            ArrowColumn column = loaded.get(c).head().keys();
            for (int row : loaded.get(c).rows()) {
                chunks[n] = c;
                rows[n] = row;
                keys[n] = shuffleSeed.isPresent() ? hash(shuffleSeed.getAsLong(), column, row) : n;
                n++;
            }
        }
        return new GroupRows(chunks, rows, KeySort.order(keys));
    }

    private static long hash(long seed, ArrowColumn keys, int row) {
        byte[] key = new byte[keys.valueLength(row)];
        keys.bytes().get(keys.valuePosition(row), key);
        return KeyHash.hash(seed, key);
    }

    int count() {
        return order.length;
    }

    /** The index of the n-th row's chunk. */
    int chunk(int n) {
        return chunks[order[n]];
    }

    /** The index of the n-th row in its chunk. */
    int row(int n) {
        return rows[order[n]];
    }
}
