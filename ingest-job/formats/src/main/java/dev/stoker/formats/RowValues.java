package dev.stoker.formats;

import java.io.IOException;

/** The values of one row. For one thread. */
public interface RowValues {
    /**
     * Gives the value of a selected column of the row.
     *
     * @param column index into the columns that were selected, not into the schema
     * @throws BadValueException if the column's type cannot hold the value; the row can be left out
     */
    void get(int column, ValueSink sink) throws IOException, BadValueException;
}
