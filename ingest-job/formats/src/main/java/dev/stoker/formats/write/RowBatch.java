package dev.stoker.formats.write;

import dev.stoker.schemas.arrow.ArrowColumn;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Rows to write.
 *
 * @param rows number of rows
 * @param columns the columns of the table in their order; categorical ones have indexes into the column's classes
 * @param message the same rows as an Arrow record batch message, from index 0 to the limit; has an array
 */
public record RowBatch(int rows, List<ArrowColumn> columns, ByteBuffer message) {
    public RowBatch {
        columns = List.copyOf(columns);
    }
}
