package dev.stoker.metadata.index.run;

import dev.stoker.schemas.index.IndexedRow;
import java.io.Closeable;
import java.io.IOException;
import java.util.Arrays;

/** Iterates over rows in the order of a run. Starts before the first row. Not thread-safe. */
public interface RowCursor extends Closeable {

    /** Moves to the next row. Returns false if there is none. */
    boolean next() throws IOException;

    /** Returns the key of the current row as UTF-8. It must not be changed. */
    byte[] key();

    /** Returns the place of the current row. */
    IndexedRow row();

    @Override
    default void close() throws IOException {}

    /** Compares the current rows of two cursors: by the key's unsigned bytes, then by descending ordinal. */
    static int compare(RowCursor left, RowCursor right) {
        int order = Arrays.compareUnsigned(left.key(), right.key());
        return order != 0
                ? order
                : Integer.compare(right.row().ordinal(), left.row().ordinal());
    }
}
