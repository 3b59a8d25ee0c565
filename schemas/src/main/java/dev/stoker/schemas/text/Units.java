package dev.stoker.schemas.text;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Formats numbers for people: bytes in decimal units, counts with separators and the right form of the noun, times by
 * their size.
 */
public final class Units {

    private static final Pattern TIME = Pattern.compile("([0-9]{1,9}) *(s|m|min|h|d|)");
    private static final Pattern BARE = Pattern.compile("\\s*0*[1-9][0-9]*\\s*");
    /** A number with more digits is a size in bytes, and one with fewer the size that somebody means in MiB. */
    private static final int DIGITS_OF_BYTES = 5;

    private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);

    private Units() {}

    /** Decimal units, as storage vendors and network people use them: 1.23 GB. */
    public static String bytes(long bytes) {
        if (bytes < 1000) {
            return bytes + " B";
        }
        double value = bytes;
        String[] units = {"B", "kB", "MB", "GB", "TB", "PB"};
        int unit = 0;
        while (value >= 999.5 && unit < units.length - 1) {
            value /= 1000;
            unit++;
        }
        return String.format(
                Locale.ROOT, value < 10 ? "%.2f %s" : value < 100 ? "%.1f %s" : "%.0f %s", value, units[unit]);
    }

    /** Bytes in a time as a rate: 1.23 GB/s. */
    public static String rate(double bytesPerSecond) {
        return bytes((long) bytesPerSecond) + "/s";
    }

    /** Bytes in MiB, rounded up: the unit of options such as {@code --working-memory 512m}. */
    public static long mebibytes(long bytes) {
        return (bytes + (1 << 20) - 1) >> 20;
    }

    /** With separators: 1,234,567. */
    public static String count(long count) {
        return String.format(Locale.ROOT, "%,d", count);
    }

    /** A count and its noun: 1 chunk, 2,000 chunks, 0 batches. */
    public static String plural(long count, String noun) {
        return count(count) + " " + nounFor(count, noun);
    }

    /** The form of a noun, given in the singular, for a count: chunk or chunks, batch or batches, copy or copies. */
    public static String nounFor(long count, String noun) {
        if (count == 1) {
            return noun;
        }
        // The ch of an epoch is a k.
        if ((noun.endsWith("ch") && !noun.endsWith("epoch")) || noun.endsWith("s") || noun.endsWith("x")) {
            return noun + "es";
        }
        boolean y = noun.endsWith("y") && "aeiou".indexOf(noun.charAt(noun.length() - 2)) < 0;
        return y ? noun.substring(0, noun.length() - 1) + "ies" : noun + "s";
    }

    /**
     * Returns what is wrong with a time that is a number without a unit; empty for any other text, and for 0. Flink
     * would take it as milliseconds, and most users mean seconds.
     */
    public static Optional<String> missingTimeUnit(String text) {
        return BARE.matcher(text).matches() ? Optional.of(giveUnit(text.strip(), "s")) : Optional.empty();
    }

    /**
     * Returns what is wrong with a size that is a number without a unit; empty for any other text, and for 0. Few users
     * mean bytes.
     */
    public static Optional<String> missingSizeUnit(String text) {
        String number = text.strip();
        return BARE.matcher(text).matches()
                ? Optional.of(giveUnit(number, number.length() > DIGITS_OF_BYTES ? "bytes" : "MiB"))
                : Optional.empty();
    }

    private static String giveUnit(String number, String unit) {
        return number + ": give a unit, for example " + number + " " + unit;
    }

    /**
     * Parses a time such as 0, 90s, 30 min, 24h or 7d.
     *
     * @param option the option, for the message
     */
    public static Duration parseTime(String option, String text) {
        missingTimeUnit(text).ifPresent(problem -> {
            throw new IllegalArgumentException("option " + option + ": " + problem);
        });
        Matcher matcher = TIME.matcher(text.strip());
        if (!matcher.matches() || (matcher.group(2).isEmpty() && Long.parseLong(matcher.group(1)) != 0)) {
            throw new IllegalArgumentException(
                    "option " + option + ": '" + text + "' is not a time such as 90s, 30m, 24h or 7d");
        }
        long number = Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "m", "min" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            case "d" -> Duration.ofDays(number);
            default -> Duration.ofSeconds(number);
        };
    }

    /** A moment, in the local time zone. */
    public static String date(long ms) {
        return DATE.format(Instant.ofEpochMilli(ms).atZone(ZoneId.systemDefault()));
    }

    /** A time to a tenth of a second: 12.3 s. */
    public static String seconds(Duration duration) {
        return String.format(Locale.ROOT, "%.1f s", duration.toMillis() / 1000.0);
    }

    /** A duration of any length: 42 s, 3 min 05 s, 2 h 07 min. */
    public static String time(Duration duration) {
        long s = Math.max(0, duration.toSeconds());
        if (s < 60) {
            return s + " s";
        }
        if (s < 3600) {
            return String.format(Locale.ROOT, "%d min %02d s", s / 60, s % 60);
        }
        return s < 48 * 3600
                ? String.format(Locale.ROOT, "%d h %02d min", s / 3600, s % 3600 / 60)
                : String.format(Locale.ROOT, "%d d %d h", s / 86400, s % 86400 / 3600);
    }
}
