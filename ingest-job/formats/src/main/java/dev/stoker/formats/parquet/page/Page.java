package dev.stoker.formats.parquet.page;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A data page.
 *
 * @param values number of levels: values, nulls and empty lists
 * @param repetition its repetition levels, or null if the column is in no list
 * @param definition its definition levels, or null if the column has no nulls
 * @param decoder gives the decoder of its values
 */
public record Page(
        int values,
        @Nullable HybridDecoder repetition,
        @Nullable HybridDecoder definition,
        Values decoder) {
    /** Makes a decoder. */
    public interface Values {
        PageDecoder open() throws IOException;
    }
}
