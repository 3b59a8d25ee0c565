package dev.stoker.formats.write;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.FieldType;

/**
 * A value to write, with its place for messages.
 *
 * @param table the table
 * @param rows the rows
 * @param column index of the column
 * @param row index of the row
 */
public record Cell(OutputTable table, RowBatch rows, int column, int row) {
    /** Returns the column with the value. */
    public ArrowColumn source() {
        return rows.columns().get(column);
    }

    /** Returns the type of the value. */
    public FieldType type() {
        return table.columns().get(column).type();
    }

    /**
     * Returns the failure of a value that the format cannot hold.
     *
     * @param reason a clause with the problem
     * @param other a clause with a next step other than to leave the column out
     */
    public UnwritableValueException refused(String reason, String other) {
        return new UnwritableValueException(
                table.nameOf(rows, row),
                table.columns().get(column).name(),
                reason + "; " + table.leaveOut(at -> at == column) + other);
    }
}
