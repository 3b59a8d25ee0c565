package dev.stoker.formats;

import dev.stoker.schemas.arrow.FixedValues;
import java.io.Closeable;
import java.io.IOException;

/** Reads the rows of a part in blocks, column by column. For one thread. */
public interface BlockReader extends Closeable {
    /**
     * Moves to the next block, at first to the first one.
     *
     * @return number of rows; 0 at the end of the part
     * @throws DamagedFileException if the block is damaged; a {@link RowReader} can tell which of its rows can be read
     * @throws BadValueException if a column's type cannot hold one of the values
     */
    int next() throws IOException, BadValueException;

    /** Returns the {@link RowReader#position} of the block's first row. Each further row adds 1 to it. */
    long position();

    /**
     * Returns the values of a selected column of the block. They are valid until the next block.
     *
     * @param column index into the columns that were selected, not into the schema
     */
    FixedValues values(int column);
}
