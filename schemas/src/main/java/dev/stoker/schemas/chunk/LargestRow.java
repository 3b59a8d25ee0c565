package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.ColumnBuilder;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.util.Arrays;

/** Finds the largest row of a chunk. Not thread-safe. */
final class LargestRow {
    private final ChunkColumns columns;

    /** The small columns whose values differ in length. */
    private final ColumnBuilder[] variable;

    /** The bytes of a row in all other small columns. */
    private final long fixedBytes;

    private long bytes;

    LargestRow(ChunkColumns columns) {
        this.columns = columns;
        this.variable = Arrays.stream(columns.small())
                .filter(column -> column.field().type().hasOffsets())
                .toArray(ColumnBuilder[]::new);
        this.fixedBytes = Arrays.stream(columns.small())
                .map(ColumnBuilder::field)
                .filter(field -> !field.type().hasOffsets())
                .mapToLong(field -> RowSize.of(field.type(), field.nullable(), 0))
                .sum();
    }

    /** Takes the last row of the columns into account. */
    void add() {
        add(columns.keys().lastLength());
    }

    /**
     * Takes rows into account that differ from the last row of the columns in their keys only.
     *
     * @param keyLength length of the longest key
     */
    void add(int keyLength) {
        long row = fixedBytes + RowSize.of(ScalarType.UTF8, false, keyLength);
        for (ColumnBuilder column : variable) {
            row += RowSize.of(column.field().type(), column.field().nullable(), column.lastLength());
        }
        for (PayloadColumn column : columns.payload()) {
            row += RowSize.of(column.field().type(), column.field().nullable(), column.rowLength());
        }
        bytes = Math.max(bytes, row);
    }

    long bytes() {
        return bytes;
    }

    void reset() {
        bytes = 0;
    }
}
