package dev.stoker.flink.arguments;

import dev.stoker.schemas.text.Units;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.flink.configuration.MemorySize;
import org.jspecify.annotations.Nullable;

/** Writes values of options as help and messages show them, and reads sizes as a user types them. */
public final class OptionValues {
    private static final String[] UNITS = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    private static final Pattern BINARY = Pattern.compile("(\\d)\\s*([kmgt])ib", Pattern.CASE_INSENSITIVE);

    private OptionValues() {}

    /** Returns a value with its unit, such as {@code 8 MiB} or {@code 15 min}. The jobs accept this text. */
    public static String text(Object value) {
        if (value instanceof MemorySize size) {
            return size(size.getBytes());
        }
        return value instanceof Duration duration ? time(duration.toSeconds()) : String.valueOf(value);
    }

    private static String size(long bytes) {
        long number = bytes;
        int unit = 0;
        while (number > 0 && number % 1024 == 0 && unit < UNITS.length - 1) {
            number /= 1024;
            unit++;
        }
        return number + " " + UNITS[unit];
    }

    private static String time(long seconds) {
        if (seconds == 0 || seconds % 60 != 0) {
            return seconds + " s";
        }
        return seconds % 3600 == 0 ? seconds / 3600 + " h" : seconds / 60 + " min";
    }

    /** Returns a size in the notation of Flink, which knows {@code 8 mb} but not {@code 8 MiB}. Both mean the same. */
    static String flinkSize(String text) {
        return BINARY.matcher(text.strip()).replaceFirst("$1 $2b");
    }

    /** Returns what is wrong with the text of a time or size that has no unit; empty for all other values. */
    static Optional<String> missingUnit(@Nullable Object value, String text) {
        if (value instanceof Duration) {
            return Units.missingTimeUnit(text);
        }
        return value instanceof MemorySize ? Units.missingSizeUnit(text) : Optional.empty();
    }

    /**
     * Returns the number of bytes of a size such as {@code 8 MiB}, {@code 8mb} or {@code 8388608 bytes}.
     *
     * @param option the option, for the message
     * @throws IllegalArgumentException if the text is not a size, or has no unit
     */
    public static long bytes(String option, String text) {
        Units.missingSizeUnit(text).ifPresent(problem -> {
            throw new IllegalArgumentException("option " + option + ": " + problem);
        });
        try {
            return MemorySize.parseBytes(flinkSize(text));
        } catch (IllegalArgumentException e) {
            // Without the cause, whose message would be printed instead.
            throw new IllegalArgumentException("option " + option + ": '" + text + "' is not a size such as 8 MiB");
        }
    }
}
