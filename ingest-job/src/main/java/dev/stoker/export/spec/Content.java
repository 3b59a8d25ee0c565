package dev.stoker.export.spec;

import dev.stoker.schemas.condition.RowExpression;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The content of the files.
 *
 * @param columns numbers of the dataset's columns, ascending: 0 for the key, f + 1 for field f
 * @param names names of these columns in the files
 * @param format name of the format
 * @param compression of the files
 * @param images names in the files of the columns that hold images, in the layout {@code huggingface}; null in the
 *     layout {@code stoker}
 * @param where the expression that samples must satisfy; null for all samples
 */
public record Content(
        int[] columns,
        ArrayList<String> names,
        String format,
        String compression,
        @Nullable HashSet<String> images,
        @Nullable String where)
        implements Serializable {
    private static final long serialVersionUID = 1;

    /** Returns the expression that samples must satisfy; empty for all samples. */
    public Optional<RowExpression> condition() {
        return Optional.ofNullable(where).map(RowExpression::parse);
    }
}
