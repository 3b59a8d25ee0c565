package dev.stoker.metadata.index.build;

import dev.stoker.metadata.index.run.RowCursor;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.util.List;

/** Reads the heads of chunks, and sorts their rows. */
@FunctionalInterface
interface RowReads {

    /**
     * Returns cursors over all rows of some chunks. Leaves out chunks that were removed and whose files do not exist
     * any more.
     *
     * @param table chunk table of the newest version that the rows are for
     * @param chunks indices of the chunk table
     * @param scratch for temporary files, which the cursors read
     * @throws InterruptedException if interrupted
     */
    List<RowCursor> collect(ChunkTable table, int[] chunks, Scratch scratch) throws IOException, InterruptedException;
}
