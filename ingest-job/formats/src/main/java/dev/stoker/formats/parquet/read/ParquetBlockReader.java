package dev.stoker.formats.parquet.read;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.BlockReader;
import dev.stoker.schemas.arrow.FixedValues;
import java.io.IOException;

/** Reads the rows of a row group in blocks. For one thread. */
final class ParquetBlockReader implements BlockReader {
    private static final int MAX_ROWS = 8192;
    private static final int MIN_ROWS = 64;

    /** A block of this size stays in the processor's caches until it is in a chunk. */
    private static final int BLOCK_BYTES = 1 << 20;

    private final NumberColumn[] columns;
    private final FixedValues[] values;
    private final int blockRows;
    private final long rows;
    private final long first;
    private final Runnable release;
    private long done;
    private int present;

    /**
     * @param blockRows rows of a block
     * @param rows number of rows
     * @param first number of the first row in the file
     * @param release gives the memory of the row group back
     */
    ParquetBlockReader(NumberColumn[] columns, int blockRows, long rows, long first, Runnable release) {
        this.columns = columns;
        this.values = new FixedValues[columns.length];
        this.blockRows = blockRows;
        this.rows = rows;
        this.first = first;
        this.release = release;
    }

    /** Returns the rows of a block. */
    static int blockRows(int columns) {
        return Math.max(MIN_ROWS, Math.min(MAX_ROWS, BLOCK_BYTES / (8 * Math.max(1, columns))));
    }

    @Override
    public int next() throws IOException, BadValueException {
        done += present;
        present = 0;
        int count = (int) Math.min(blockRows, rows - done);
        for (int c = 0; c < columns.length && count > 0; c++) {
            values[c] = columns[c].next(count);
        }
        present = count;
        return count;
    }

    @Override
    public long position() {
        return first + done;
    }

    @Override
    public FixedValues values(int column) {
        return values[column];
    }

    @Override
    public void close() {
        release.run();
    }
}
