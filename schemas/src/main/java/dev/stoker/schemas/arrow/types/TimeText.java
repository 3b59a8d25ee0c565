package dev.stoker.schemas.arrow.types;

import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;

/**
 * Converts timestamps, dates and times between the numbers of a column and ISO 8601 text, such as {@code
 * 2026-01-31T12:00:00.5Z}, {@code 2026-01-31} and {@code 12:00}. Text of a timestamp with a zone has an offset or
 * {@code Z}; without a zone it has none.
 */
public final class TimeText {
    private static final long NANOS = 1_000_000_000;
    private static final int SHOWN = 40;
    private static final int DATE_LENGTH = "2026-01-31".length();

    private TimeText() {}

    /** Returns whether values of this type are times that this class converts. */
    public static boolean isTime(FieldType type) {
        return type instanceof TimestampType || type instanceof TimeType || type == ScalarType.DATE;
    }

    /**
     * Returns the number of a text. The text of a timestamp without a zone may be a day, which begins at midnight.
     *
     * @throws IllegalArgumentException if the text is no value of the type, or would have to be rounded
     */
    public static long parse(FieldType type, String text) {
        try {
            if (type instanceof TimestampType timestamp) {
                return timestamp(timestamp, text);
            }
            if (type instanceof TimeType time) {
                LocalTime parsed = LocalTime.parse(text);
                return units(time.unit(), parsed.toSecondOfDay(), parsed.get(ChronoField.NANO_OF_SECOND), text);
            }
            if (type == ScalarType.DATE) {
                return LocalDate.parse(text).toEpochDay();
            }
        } catch (DateTimeException e) {
            throw new IllegalArgumentException(
                    shown(text) + " is not " + type + "; expected ISO 8601 such as " + example(type), e);
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(shown(text) + " is out of range for " + type, e);
        }
        throw new IllegalArgumentException(type + " is no type of times");
    }

    /** Returns a text for a message: shortened. */
    private static String shown(String text) {
        return text.length() > SHOWN ? "'" + text.substring(0, SHOWN) + "…'" : "'" + text + "'";
    }

    private static long timestamp(TimestampType type, String text) {
        boolean hasSpace = text.length() > DATE_LENGTH && text.charAt(DATE_LENGTH) == ' ';
        String iso = hasSpace ? text.substring(0, DATE_LENGTH) + "T" + text.substring(DATE_LENGTH + 1) : text;
        LocalDateTime utc;
        if (type.zone().isPresent()) {
            utc = OffsetDateTime.parse(iso)
                    .withOffsetSameInstant(ZoneOffset.UTC)
                    .toLocalDateTime();
        } else if (iso.length() == DATE_LENGTH) {
            utc = LocalDate.parse(iso).atStartOfDay();
        } else {
            utc = LocalDateTime.parse(iso);
        }
        return units(type.unit(), utc.toEpochSecond(ZoneOffset.UTC), utc.get(ChronoField.NANO_OF_SECOND), text);
    }

    private static long units(TimeResolution unit, long seconds, int nanos, String text) {
        long nanosPerUnit = NANOS / unit.perSecond();
        if (nanos % nanosPerUnit != 0) {
            throw new IllegalArgumentException(
                    shown(text) + " is finer than the unit " + unit.canonical() + " of its type");
        }
        long fraction = nanos / nanosPerUnit;
        // The least numbers need the second above, because the product alone would overflow.
        return seconds < 0 && fraction > 0
                ? Math.addExact(Math.multiplyExact(seconds + 1, unit.perSecond()), fraction - unit.perSecond())
                : Math.addExact(Math.multiplyExact(seconds, unit.perSecond()), fraction);
    }

    /**
     * Returns the date and time of a timestamp; with a zone, in UTC.
     *
     * @throws DateTimeException if no calendar reaches it
     */
    public static LocalDateTime dateTime(TimestampType type, long value) {
        long perSecond = type.unit().perSecond();
        int nanos = (int) (Math.floorMod(value, perSecond) * (NANOS / perSecond));
        return LocalDateTime.ofEpochSecond(Math.floorDiv(value, perSecond), nanos, ZoneOffset.UTC);
    }

    /**
     * Returns a time of day.
     *
     * @throws DateTimeException if a day does not have it
     * @throws ArithmeticException if a day does not have it
     */
    public static LocalTime timeOfDay(TimeType type, long value) {
        return LocalTime.ofNanoOfDay(
                Math.multiplyExact(value, NANOS / type.unit().perSecond()));
    }

    /** Returns the text of a number. A number that no calendar reaches comes back with its unit. */
    public static String format(FieldType type, long value) {
        try {
            if (type instanceof TimestampType timestamp) {
                return dateTime(timestamp, value) + (timestamp.zone().isPresent() ? "Z" : "");
            }
            if (type instanceof TimeType time) {
                return timeOfDay(time, value).toString();
            }
            return LocalDate.ofEpochDay(value).toString();
        } catch (DateTimeException | ArithmeticException e) {
            return value + " " + type;
        }
    }

    private static String example(FieldType type) {
        if (type instanceof TimestampType timestamp) {
            return "2026-01-31T23:59:59" + (timestamp.zone().isPresent() ? "+02:00" : "");
        }
        return type == ScalarType.DATE ? "2026-01-31" : "23:59:59.5";
    }
}
