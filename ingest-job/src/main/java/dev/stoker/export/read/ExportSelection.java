package dev.stoker.export.read;

import dev.stoker.export.spec.Content;
import dev.stoker.formats.RowColumn;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.condition.RowPredicate;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The columns and the samples that are read.
 *
 * @param view the columns
 * @param condition is true for the samples; empty for all samples
 */
public record ExportSelection(View view, Optional<RowPredicate> condition) {
    /** Returns the selection of an export from a dataset with these fields. */
    public static ExportSelection of(List<Field> fields, Content content) {
        BitSet numbers = new BitSet();
        for (int column : content.columns()) {
            numbers.set(column);
        }
        Map<String, RowColumn> columns = columns(fields);
        return new ExportSelection(
                View.of(fields.stream().map(Field::name).toList(), numbers),
                content.condition().map(expression -> expression.bind(RowColumn.types(columns))));
    }

    /** Returns the columns that a condition can use, by name: the key and the fields. */
    public static Map<String, RowColumn> columns(List<Field> fields) {
        Map<String, RowColumn> columns = new LinkedHashMap<>();
        columns.put(
                Field.KEY,
                new RowColumn(Field.KEY, ScalarType.UTF8, false, ScalarType.UTF8.canonical(), RowColumn.Role.KEY));
        for (Field field : fields) {
            RowColumn.Role role = field.payload() ? RowColumn.Role.PAYLOAD : RowColumn.Role.NONE;
            columns.put(
                    field.name(),
                    new RowColumn(
                            field.name(),
                            field.type(),
                            field.nullable(),
                            field.type().canonical(),
                            role));
        }
        return columns;
    }
}
