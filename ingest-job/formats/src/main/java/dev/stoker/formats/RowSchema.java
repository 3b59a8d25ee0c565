package dev.stoker.formats;

import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.text.ShellText;
import java.util.List;

/**
 * The columns of a file. A struct is given as one column for each of its fields, with dots in the name; a list of
 * structs as one list for each field.
 *
 * @param columns the columns that can become fields, in the order of the file
 * @param refused the columns that cannot, with the reason
 * @param nullLists the refused columns that are lists of nulls. They have lengths but no values, so they can be read as
 *     lists of any type. Their indexes follow the indexes of {@code columns}
 */
public record RowSchema(List<RowColumn> columns, List<RefusedColumn> refused, List<RowColumn> nullLists) {
    public RowSchema {
        columns = List.copyOf(columns);
        refused = List.copyOf(refused);
        nullLists = List.copyOf(nullLists);
    }

    /** A file without lists whose items have the type null. */
    public RowSchema(List<RowColumn> columns, List<RefusedColumn> refused) {
        this(columns, refused, List.of());
    }

    /** Returns a column of lists whose items have the type null. Its values are empty lists and null items. */
    public static RowColumn nullList(String name, boolean nullable, String sourceType) {
        return new RowColumn(name, new ListType(ScalarType.UINT8, true), nullable, sourceType, RowColumn.Role.NONE);
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

        /** Returns the refusal of lists whose items have the type null, unless somebody names their type. */
        public static RefusedColumn nullList(RowColumn column) {
            return new RefusedColumn(
                    column.name(),
                    column.sourceType(),
                    "all its items are null, or all its lists are empty; give its type, such as "
                            + ShellText.pair("--type", column.name(), "float64[]"));
        }
    }
}
