package dev.stoker.formats.values;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.FixedBinaryType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeText;
import dev.stoker.schemas.errors.ErrorText;
import java.math.BigDecimal;
import java.util.Locale;
import java.util.regex.Pattern;

/** Converts text to values of a declared type. */
public final class TextValue {
    private static final int MAX_DECIMAL = 100;
    private static final Pattern DECIMAL = Pattern.compile("[+-]?[0-9]*\\.?[0-9]*([eE][+-]?[0-9]{1,3})?");

    private TextValue() {}

    /** Returns whether exports write values of a type as JSON: all but bytes. */
    public static boolean canBeJson(FieldType type) {
        return type != ScalarType.BINARY && !(type instanceof FixedBinaryType) && !isListOfBinary(type);
    }

    /** Returns whether {@link #put} reads values of a type, or the text's bytes are the value. */
    public static boolean canBeText(FieldType type) {
        return type instanceof ScalarType || isParsed(type);
    }

    private static boolean isListOfBinary(FieldType type) {
        return type instanceof ListType list && list.item() == ScalarType.BINARY;
    }

    /** Returns whether values of a type are written as text with a syntax: dates, times, timestamps and decimals. */
    public static boolean isParsed(FieldType type) {
        return TimeText.isTime(type) || type instanceof DecimalType;
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

    /** Returns a decimal number of a type. */
    public static BigDecimal decimal(String text, DecimalType type) throws BadValueException {
        if (text.length() > MAX_DECIMAL || !DECIMAL.matcher(text).matches()) {
            throw refused(text, type);
        }
        try {
            return new BigDecimal(type.unscaled(new BigDecimal(text)), type.scale());
        } catch (NumberFormatException e) {
            throw refused(text, type);
        } catch (IllegalArgumentException e) {
            throw new BadValueException(ErrorText.of(e));
        }
    }

    private static long moment(String text, FieldType type) throws BadValueException {
        try {
            return TimeText.parse(type, text);
        } catch (IllegalArgumentException e) {
            throw new BadValueException(ErrorText.of(e));
        }
    }

    /** Returns 1 for true and 0 for false. */
    public static long bool(String text) throws BadValueException {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "true", "1" -> 1;
            case "false", "0" -> 0;
            default -> throw refused(text, ScalarType.BOOL);
        };
    }

    /** Returns an integer of a type, or the bits of a uint64. */
    public static long integer(String text, ScalarType type) throws BadValueException {
        if (!text.matches("[+-]?[0-9]{1,100}")) {
            throw refused(text, type);
        }
        try {
            if (type == ScalarType.UINT64) {
                return text.matches("-0+") ? 0 : Long.parseUnsignedLong(text);
            }
            long value = Long.parseLong(text);
            Numbers.checkRange(type, value);
            return value;
        } catch (NumberFormatException e) {
            throw new BadValueException(Utf8.shown(text) + " does not fit into " + type);
        }
    }

    /** Returns a floating-point number of a type. */
    public static double number(String text, ScalarType type) throws BadValueException {
        String plain = text.replaceFirst("^\\+", "").replaceFirst("^(-?)0+(?=[0-9])", "$1");
        if (!Numbers.isFloat(plain) && !Numbers.isNotFinite(plain)) {
            throw refused(text, type);
        }
        return Numbers.toDouble(plain, type);
    }

    private static BadValueException refused(String text, FieldType type) {
        return new BadValueException(Utf8.shown(text) + " is not " + type);
    }
}
