package dev.stoker.flink.arguments;

import java.time.Duration;
import java.util.Optional;
import org.apache.flink.configuration.MemorySize;

/**
 * The valid values of an option with numbers, sizes or times. Sizes count as bytes, times as milliseconds.
 *
 * @param least valid value
 * @param most the largest valid value
 * @param problem what a message says behind a value that is not valid, such as {@code is not positive}
 */
record OptionRange(long least, long most, String problem) {

    boolean contains(Object value) {
        long number = number(value);
        return number >= least && number <= most;
    }

    /** Returns the problem with a value; empty if it is valid. */
    Optional<String> problem(Object value) {
        return contains(value) ? Optional.empty() : Optional.of(number(value) + unit(value) + " " + problem);
    }

    /** Returns the valid number that is nearest to a value. */
    long nearest(Object value) {
        return Math.max(least, Math.min(most, number(value)));
    }

    private static long number(Object value) {
        if (value instanceof MemorySize size) {
            return size.getBytes();
        }
        return value instanceof Duration time ? time.toMillis() : ((Number) value).longValue();
    }

    private static String unit(Object value) {
        if (value instanceof MemorySize) {
            return " bytes";
        }
        return value instanceof Duration ? " ms" : "";
    }
}
