package dev.stoker.formats.values;

import dev.stoker.formats.BadValueException;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.values.NumberBytes;
import java.math.BigDecimal;
import java.util.Locale;

/** Reads numbers in text and checks whether a type holds them. */
public final class Numbers {
    private static final int MAX_DIGITS = 1000;

    private Numbers() {}

    /** Returns whether a text is an integer as people write numbers: no plus sign, no leading zeros, no spaces. */
    public static boolean isInteger(String text) {
        int from = text.startsWith("-") ? 1 : 0;
        int digits = text.length() - from;
        if (digits == 0 || digits > MAX_DIGITS || (digits > 1 && text.charAt(from) == '0') || text.equals("-0")) {
            return false;
        }
        return digitsEnd(text, from) == text.length();
    }

    /** Returns whether an integer in text fits into an int64. */
    public static boolean isInt64(String text) {
        if (!isInteger(text) || text.length() > 20) {
            return false;
        }
        try {
            Long.parseLong(text);
            return true;
        } catch (NumberFormatException e) {
            return false;
        }
    }

    /**
     * Returns whether a text is a floating-point number as people write numbers: no plus sign, no leading zeros, no
     * spaces, and digits before or behind the point.
     */
    public static boolean isFloat(String text) {
        int from = text.startsWith("-") ? 1 : 0;
        int point = digitsEnd(text, from);
        if (text.length() > MAX_DIGITS || (point - from > 1 && text.charAt(from) == '0')) {
            return false;
        }
        int end = point;
        int digits = point - from;
        if (end < text.length() && text.charAt(end) == '.') {
            end = digitsEnd(text, end + 1);
            digits += end - point - 1;
        }
        if (digits > 0 && end < text.length() && (text.charAt(end) | 0x20) == 'e') {
            int exponent = end + 1;
            exponent += exponent < text.length() && "+-".indexOf(text.charAt(exponent)) >= 0 ? 1 : 0;
            end = digitsEnd(text, exponent);
            digits = end - exponent;
        }
        return digits > 0 && end == text.length();
    }

    /** Returns whether a text is one of the usual words for infinity or for not a number. */
    public static boolean isNotFinite(String text) {
        return switch (text) {
            case "nan", "NaN", "NAN", "inf", "-inf", "Inf", "-Inf", "Infinity", "-Infinity" -> true;
            default -> false;
        };
    }

    /**
     * Returns the number of a text for which {@link #isFloat} or {@link #isNotFinite} is true.
     *
     * @param type a floating-point type
     * @throws BadValueException if it is too large for a float64, or an integer that the type does not hold exactly
     */
    public static double toDouble(String text, ScalarType type) throws BadValueException {
        if (isNotFinite(text)) {
            double magnitude = text.toLowerCase(Locale.ROOT).contains("inf") ? Double.POSITIVE_INFINITY : Double.NaN;
            return text.startsWith("-") ? -magnitude : magnitude;
        }
        if (isInt64(text)) {
            return exact(Long.parseLong(text), type);
        }
        double value = Double.parseDouble(text);
        if (Double.isInfinite(value)) {
            throw new BadValueException(Utf8.shown(text) + " is too large for a float64");
        }
        if (isInteger(text)) {
            requireExact(text, value, type);
        }
        return value;
    }

    private static int digitsEnd(String text, int from) {
        int at = from;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            at++;
        }
        return at;
    }

    /** Returns an integer as a floating-point number of a type, which must hold it exactly. */
    public static double exact(long value, ScalarType type) throws BadValueException {
        double held = type.nearest(value);
        if (Math.abs(held) < 0x1p62 ? (long) held != value : !isEqual(Long.toString(value), held)) {
            throw inexact(Long.toString(value), type);
        }
        return held;
    }

    /** Returns the integer of the bits of a uint64 as a floating-point number of a type, which must hold it exactly. */
    public static double exactUnsigned(long bits, ScalarType type) throws BadValueException {
        return bits >= 0 ? exact(bits, type) : toDouble(Long.toUnsignedString(bits), type);
    }

    private static void requireExact(String integer, double value, ScalarType type) throws BadValueException {
        if (!isEqual(integer, type.nearest(value))) {
            throw inexact(integer, type);
        }
    }

    private static boolean isEqual(String integer, double value) {
        return Double.isFinite(value) && new BigDecimal(integer).compareTo(new BigDecimal(value)) == 0;
    }

    private static BadValueException inexact(String integer, ScalarType type) {
        return new BadValueException(integer + " is not exactly a " + type);
    }

    static void checkRange(ScalarType type, long value) throws BadValueException {
        if (!NumberBytes.fits(type, value) || (type == ScalarType.UINT64 && value < 0)) {
            throw new BadValueException(value + " does not fit into " + type);
        }
    }
}
