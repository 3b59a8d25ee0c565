package dev.stoker.formats;

import java.io.Closeable;
import java.io.IOException;

/** Reads the rows of a part in their order. For one thread. */
public interface RowReader extends RowValues, Closeable {
    /**
     * Moves to the next row, at first to the first one.
     *
     * @return false at the end of the part
     * @throws DamagedFileException if the row is damaged; after it {@link #skip} tells whether the rest can be read
     */
    boolean next() throws IOException;

    /**
     * Returns where the row is: its number in the file if the format counts rows, otherwise its first byte's offset (of
     * the decompressed file). It does not depend on how the file is divided into parts. After {@link #skip}, it is the
     * place of the row that was left out.
     */
    long position();

    /**
     * Leaves out the row that {@link #next} could not read.
     *
     * @return whether further rows can be read; false if the rest of the part is lost
     */
    default boolean skip() {
        return false;
    }
}
