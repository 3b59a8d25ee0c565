package dev.stoker.export.read;

import dev.stoker.export.spec.Content;
import dev.stoker.metadata.selection.SampleFilter;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.condition.RowPredicate;
import java.util.BitSet;
import java.util.List;
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
        return new ExportSelection(
                View.of(fields.stream().map(Field::name).toList(), numbers),
                content.condition().map(expression -> expression.bind(SampleFilter.types(fields))));
    }
}
