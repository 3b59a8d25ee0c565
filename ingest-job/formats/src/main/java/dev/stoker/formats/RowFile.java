package dev.stoker.formats;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** An open file with rows. For one thread at a time. */
public interface RowFile extends Closeable {
    /** Returns the columns of the file. */
    RowSchema schema();

    /**
     * Returns the parts of the file in their order. Together they have all rows. A format that cannot be divided
     * returns one part.
     */
    List<RowPart> parts() throws IOException;

    /**
     * Reads the rows of a part.
     *
     * @param columns the columns to read, as indexes into {@link RowSchema#columns}; others are not read if the format
     *     allows it
     * @throws DamagedFileException as {@link RowFormat#open} does
     * @throws UnsupportedFileException as {@link RowFormat#open} does
     */
    RowReader read(RowPart part, int[] columns) throws IOException;

    /**
     * Reads the rows of a part in blocks, which takes a fraction of the time. The rows are those of {@link #read}.
     *
     * @param columns as for {@link #read}
     * @return empty if the format or one of the columns does not allow it
     */
    default Optional<BlockReader> readBlocks(RowPart part, int[] columns) throws IOException {
        return Optional.empty();
    }
}
