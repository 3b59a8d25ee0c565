package dev.stoker.cli.browse;

import dev.stoker.schemas.table.ChunkTable;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Numbers the samples of a version, or of one of its splits, in the order of chunks and rows. Immutable. */
final class Positions {

    private final ChunkTable table;
    private final int[] chunks;
    /** The number of samples before each chunk, and at the end the number of all samples. */
    private final long[] begins;

    /** @param split the split; null for all */
    Positions(ChunkTable table, @Nullable String split) {
        this.table = table;
        int[] found = new int[table.size()];
        long[] counts = new long[table.size() + 1];
        int count = 0;
        for (int i = 0; i < table.size(); i++) {
            if (table.isLive(i) && (split == null || split.equals(table.split(i)))) {
                found[count] = i;
                counts[count + 1] = counts[count] + table.liveRows(i);
                count++;
            }
        }
        chunks = Arrays.copyOf(found, count);
        begins = Arrays.copyOf(counts, count + 1);
    }

    /** Returns the number of samples. */
    long size() {
        return begins[chunks.length];
    }

    /** Returns the number of chunks. */
    int chunks() {
        return chunks.length;
    }

    /** Returns the index of a chunk in the chunk table. */
    int chunk(int number) {
        return chunks[number];
    }

    /** Returns the position of the first sample of a chunk; the number of all samples after the last chunk. */
    long begin(int number) {
        return begins[number];
    }

    /** Returns the number of the chunk that has the sample at a position below {@link #size}. */
    int numberOf(long position) {
        int found = Arrays.binarySearch(begins, 0, chunks.length, position);
        return found >= 0 ? found : -found - 2;
    }

    /** Returns the rows of a chunk that are samples of the version, ascending. */
    int[] rows(int number) {
        int chunk = chunks[number];
        int[] removed = table.removedRows(chunk);
        int[] rows = new int[table.liveRows(chunk)];
        for (int row = 0, at = 0; at < rows.length; row++) {
            if (removed.length == 0 || Arrays.binarySearch(removed, row) < 0) {
                rows[at++] = row;
            }
        }
        return rows;
    }
}
