package dev.stoker.formats;

import java.util.List;

/**
 * The columns of a file. A struct is given as one column for each of its fields, with dots in the name; a list of
 * structs as one list for each field.
 *
 * @param columns the columns that can become fields, in the order of the file
 * @param refused the columns that cannot, with the reason
 */
public record RowSchema(List<RowColumn> columns, List<RefusedColumn> refused) {
    public RowSchema {
        columns = List.copyOf(columns);
        refused = List.copyOf(refused);
    }

    /**
     * A column that cannot become a field.
     *
     * @param name name in the file
     * @param sourceType the type in the words of the format
     * @param reason the reason and the next step, as a clause: "its items can be null; fill them before"
     * @param isNull whether each value is null, so that a column of any type holds them
     */
    public record RefusedColumn(String name, String sourceType, String reason, boolean isNull) {
        public RefusedColumn(String name, String sourceType, String reason) {
            this(name, sourceType, reason, false);
        }
    }
}
