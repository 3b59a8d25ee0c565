package dev.stoker.formats.json;

import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowSchema;
import dev.stoker.schemas.arrow.types.FieldType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The columns that the first objects have: the same for files and topics.
 *
 * @param columns the columns that can become fields, in the order of their first appearance
 * @param refused the others
 * @param objects number of objects
 */
public record JsonSchema(List<RowColumn> columns, List<Refused> refused, int objects) {
    public JsonSchema {
        columns = List.copyOf(columns);
        refused = List.copyOf(refused);
    }

    /**
     * A column that cannot become a field.
     *
     * @param sourceType the type in words
     * @param reason the reason as a clause
     * @param advice the options of an ingest of files that help, as the end of a message
     * @param keep a column that keeps the values; null if there is none
     */
    public record Refused(
            String name,
            String sourceType,
            String reason,
            String advice,
            @Nullable Keep keep) {
        /** Returns whether the first objects have no value in the column. */
        public boolean isEmpty() {
            return sourceType.isEmpty() || sourceType.equals(Observed.Kind.EMPTY.words());
        }
    }

    /**
     * A column that keeps values for which no type was found.
     *
     * @param name of the column, or of an object around it
     * @param type its type
     */
    public record Keep(String name, FieldType type) {}

    /** Returns the schema of a file. */
    RowSchema rows() {
        return new RowSchema(
                columns,
                refused.stream()
                        .map(column -> new RowSchema.RefusedColumn(
                                column.name(), column.sourceType(), column.reason() + column.advice()))
                        .toList());
    }
}
