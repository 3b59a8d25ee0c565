package dev.stoker.formats.parquet.column;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import java.io.IOException;

/** Gives the values of one column of rows. For one thread. */
public interface Value {
    /**
     * Gives the value of a row. Rows are asked for in increasing order; a row may be asked for again.
     *
     * @param row number of the row in the row group
     */
    void give(long row, ValueSink sink) throws IOException, BadValueException;

    /** Checks that the column has no more rows than it should have. */
    void end(long rows) throws IOException;
}
