package dev.stoker.schemas.log;

import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Describes the rows that a version removed from one chunk: some rows, or all of them. Immutable: the rows never change
 * after construction.
 */
public final class RemovedRows {

    private final long ordinal;
    private final int @Nullable [] rows;

    private RemovedRows(long ordinal, int @Nullable [] rows) {
        if (ordinal < 0) {
            throw new IllegalArgumentException("Negative ordinal " + ordinal);
        }
        this.ordinal = ordinal;
        this.rows = rows;
    }

    /** Returns the removal of a whole chunk. */
    public static RemovedRows wholeChunk(long ordinal) {
        return new RemovedRows(ordinal, null);
    }

    /** @param rows at least one, ascending */
    public static RemovedRows of(long ordinal, int... rows) {
        if (rows.length == 0) {
            throw new IllegalArgumentException("No rows to remove from chunk " + ordinal);
        }
        for (int i = 0; i < rows.length; i++) {
            if (rows[i] < 0 || (i > 0 && rows[i] <= rows[i - 1])) {
                throw new IllegalArgumentException("Rows to remove from chunk " + ordinal + " do not ascend from 0 on");
            }
        }
        return new RemovedRows(ordinal, rows.clone());
    }

    public long ordinal() {
        return ordinal;
    }

    /** Returns a copy of the rows, ascending; empty for the whole chunk. */
    public Optional<int[]> rows() {
        return Optional.ofNullable(rows).map(int[]::clone);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RemovedRows that && ordinal == that.ordinal && Arrays.equals(rows, that.rows);
    }

    @Override
    public int hashCode() {
        return 31 * Long.hashCode(ordinal) + Arrays.hashCode(rows);
    }

    @Override
    public String toString() {
        return "RemovedRows[ordinal=" + ordinal + ", rows=" + (rows == null ? "all" : Arrays.toString(rows)) + "]";
    }
}
