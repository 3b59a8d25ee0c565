package dev.stoker.formats.values;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.schemas.arrow.DecimalType;
import dev.stoker.schemas.arrow.FieldType;
import dev.stoker.schemas.arrow.FixedBinaryType;
import dev.stoker.schemas.arrow.NestedListType;
import dev.stoker.schemas.arrow.NullableListType;
import dev.stoker.schemas.arrow.ScalarType;
import dev.stoker.schemas.arrow.TimeResolution;
import dev.stoker.schemas.arrow.TimeType;
import dev.stoker.schemas.arrow.TimestampType;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
import java.util.Locale;
import java.util.regex.Pattern;

/** Converts text to values of a declared type. */
public final class TextValue {
    private static final int MAX_DECIMAL = 100;
    private static final Pattern DECIMAL = Pattern.compile("[+-]?[0-9]*\\.?[0-9]*([eE][+-]?[0-9]{1,3})?");

    private TextValue() {}

    /** Returns whether JSON can hold values of a type: all but bytes. */
    public static boolean canBeJson(FieldType type) {
        return type != ScalarType.BINARY && !(type instanceof FixedBinaryType) && !isListOfBinary(type);
    }

    /** Returns whether {@link #put} reads values of a type, or the text's bytes are the value. */
    public static boolean canBeText(FieldType type) {
        return type instanceof ScalarType || isParsed(type);
    }

    private static boolean isListOfBinary(FieldType type) {
        return (type instanceof NestedListType list && list.item() == ScalarType.BINARY)
                || (type instanceof NullableListType nullable && nullable.item() == ScalarType.BINARY);
    }

    /** Returns whether values of a type are written as text with a syntax: dates, times, timestamps and decimals. */
    public static boolean isParsed(FieldType type) {
        return type == ScalarType.DATE
                || type instanceof TimestampType
                || type instanceof TimeType
                || type instanceof DecimalType;
    }

    /** Gives the value that a text stands for. Spaces around numbers are allowed. */
    public static void put(String text, FieldType type, ValueSink sink) throws BadValueException {
        if (type == ScalarType.UTF8 || type == ScalarType.CATEGORICAL || type == ScalarType.BINARY) {
            sink.setBytes(Utf8.encode(text));
            return;
        }
        String stripped = text.strip();
        if (type == ScalarType.BOOL) {
            sink.setLong(bool(stripped));
        } else if (type instanceof ScalarType scalar && scalar.isInteger()) {
            sink.setLong(integer(stripped, scalar));
        } else if (type instanceof ScalarType scalar && scalar.isFloat()) {
            sink.setDouble(number(stripped, scalar));
        } else if (type instanceof DecimalType decimal) {
            sink.setDecimal(decimal(stripped, decimal));
        } else {
            sink.setLong(moment(stripped, type));
        }
    }

    private static BigDecimal decimal(String text, DecimalType type) throws BadValueException {
        if (text.length() > MAX_DECIMAL || !DECIMAL.matcher(text).matches()) {
            throw refused(text, type);
        }
        try {
            return new BigDecimal(type.unscaled(new BigDecimal(text)), type.scale());
        } catch (IllegalArgumentException e) {
            throw refused(text, type);
        }
    }

    /** Returns a date, time or timestamp in ISO 8601. */
    private static long moment(String text, FieldType type) throws BadValueException {
        try {
            if (type == ScalarType.DATE) {
                return LocalDate.parse(text).toEpochDay();
            }
            if (type instanceof TimeType time) {
                return units(0, LocalTime.parse(text).toNanoOfDay(), time.unit(), text);
            }
            TimestampType timestamp = (TimestampType) type;
            String iso = text.length() > 10 && text.charAt(10) == ' ' ? text.replaceFirst(" ", "T") : text;
            if (timestamp.zone().isEmpty()) {
                LocalDateTime local =
                        iso.length() == 10 ? LocalDate.parse(iso).atStartOfDay() : LocalDateTime.parse(iso);
                return units(
                        local.toEpochSecond(ZoneOffset.UTC),
                        local.get(ChronoField.NANO_OF_SECOND),
                        timestamp.unit(),
                        text);
            }
            OffsetDateTime zoned = OffsetDateTime.parse(iso);
            return units(zoned.toEpochSecond(), zoned.getNano(), timestamp.unit(), text);
        } catch (DateTimeException e) {
            throw new BadValueException(
                    Utf8.shown(text) + " is not " + type + "; expected ISO 8601 such as " + example(type));
        }
    }

    private static String example(FieldType type) {
        if (type == ScalarType.DATE) {
            return "2026-01-31";
        }
        if (type instanceof TimeType) {
            return "23:59:59.5";
        }
        return ((TimestampType) type).zone().isEmpty() ? "2026-01-31T23:59:59" : "2026-01-31T23:59:59+02:00";
    }

    private static long units(long seconds, long nanos, TimeResolution unit, String text) throws BadValueException {
        long nanosPerUnit = 1_000_000_000 / unit.perSecond();
        if (nanos % nanosPerUnit != 0) {
            throw new BadValueException(
                    Utf8.shown(text) + " is finer than the unit " + unit.canonical() + " of its type");
        }
        try {
            return Math.addExact(Math.multiplyExact(seconds, unit.perSecond()), nanos / nanosPerUnit);
        } catch (ArithmeticException e) {
            throw new BadValueException(Utf8.shown(text) + " is out of range for the unit " + unit.canonical());
        }
    }

    private static long bool(String text) throws BadValueException {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "true", "1" -> 1;
            case "false", "0" -> 0;
            default -> throw refused(text, ScalarType.BOOL);
        };
    }

    private static long integer(String text, ScalarType type) throws BadValueException {
        if (!text.matches("[+-]?[0-9]{1,100}")) {
            throw refused(text, type);
        }
        try {
            if (type == ScalarType.UINT64) {
                return Long.parseUnsignedLong(text);
            }
            long value = Long.parseLong(text);
            Numbers.checkRange(type, value);
            return value;
        } catch (NumberFormatException e) {
            throw new BadValueException(Utf8.shown(text) + " does not fit into " + type);
        }
    }

    private static double number(String text, ScalarType type) throws BadValueException {
        String plain = text.replaceFirst("^\\+", "").replaceFirst("^(-?)0+(?=[0-9])", "$1");
        if (!Numbers.isFloat(plain) && !Numbers.isNotFinite(plain)) {
            throw refused(text, type);
        }
        return Numbers.toDouble(plain);
    }

    private static BadValueException refused(String text, FieldType type) {
        return new BadValueException(Utf8.shown(text) + " is not " + type);
    }
}
