package dev.stoker.formats.write;

import java.io.Closeable;
import java.io.IOException;

/** Writes the rows of one file. Closing it before {@link #finish} leaves an incomplete file. For one thread. */
public interface RowOutput extends Closeable {
    /**
     * Adds rows.
     *
     * @throws UnwritableValueException if the format cannot hold a value
     */
    void write(RowBatch rows) throws IOException;

    /** Writes the end of the file. The caller closes the stream. */
    void finish() throws IOException;
}
