package dev.stoker.formats.parquet.read;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.parquet.column.Value;
import java.io.IOException;

/** Reads the rows of a row group. For one thread. */
final class ParquetRowReader implements RowReader {
    private final Value[] values;
    private final long rows;
    private final long first;
    private final Runnable release;
    private long row = -1;

    /**
     * @param first number of the first row in the file
     * @param release gives the memory of the row group back
     */
    ParquetRowReader(Value[] values, long rows, long first, Runnable release) {
        this.values = values;
        this.rows = rows;
        this.first = first;
        this.release = release;
    }

    @Override
    public boolean next() throws IOException {
        if (row + 1 < rows) {
            row++;
            return true;
        }
        if (row + 1 == rows) {
            row = rows;
            for (Value value : values) {
                value.end(rows);
            }
        }
        return false;
    }

    @Override
    public long position() {
        return first + row;
    }

    @Override
    public void get(int column, ValueSink sink) throws IOException, BadValueException {
        values[column].give(row, sink);
    }

    @Override
    public void close() {
        release.run();
    }
}
