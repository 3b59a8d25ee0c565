package dev.stoker.formats;

import java.util.List;

/**
 * Describes the content of a file to write.
 *
 * @param columns the columns in their order
 * @param key index of the column with the keys of samples; -1 if it is left out
 * @param compression one of {@link RowFormatWriter#compressions}
 */
public record OutputTable(List<OutputColumn> columns, int key, String compression) {
    public OutputTable {
        columns = List.copyOf(columns);
    }

    /** Names a row for messages: by its key, or by its place if the key is left out. */
    public String nameOf(RowBatch rows, int row) {
        return key < 0
                ? "in row " + row + " of a batch"
                : rows.columns().get(key).stringAt(row);
    }

    /** Returns the value of a categorical column. */
    public String classAt(RowBatch rows, int column, int row) {
        return columns.get(column).classes().get(rows.columns().get(column).intAt(row));
    }
}
