package dev.stoker.cli.browse;

import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A part of a list of samples.
 *
 * @param order the order of the samples
 * @param samples the samples
 * @param next where the list continues; null at its end
 * @param searched number of samples that were looked at
 * @param problems messages of chunks that could not be read
 * @param position number of the samples before {@code next}; empty if it is unknown
 * @param found number of selected samples; empty if it is unknown
 */
public record SamplePage(
        Order order,
        List<RowAddress> samples,
        @Nullable String next,
        long searched,
        List<String> problems,
        OptionalLong position,
        OptionalLong found) {

    /** The order of a list. */
    enum Order {
        /** By chunk and row. */
        STORED,
        /** By key. */
        KEY,
        /** By the values of a field. */
        SORTED
    }
}
