package dev.stoker.formats.csv;

import dev.stoker.formats.values.Numbers;
import dev.stoker.schemas.arrow.types.ScalarType;

/** What the first rows have in a column. Not thread-safe. */
final class CsvInference {
    private static final long EXACT = 1L << 53;

    private boolean any;
    private boolean bool = true;
    private boolean int64 = true;
    private boolean float64 = true;
    private boolean finite;

    void see(String value) {
        if (value == null) {
            return;
        }
        any = true;
        bool &= isBool(value);
        boolean integer = Numbers.isInt64(value);
        int64 &= integer;
        if (float64) {
            // An integer that a float64 cannot hold, such as a long id, stays text.
            boolean isNumber = integer ? Math.abs(Long.parseLong(value)) <= EXACT : isFloat(value);
            float64 = isNumber || Numbers.isNotFinite(value);
            finite |= isNumber;
        }
    }

    static boolean isBool(String value) {
        return switch (value) {
            case "true", "false", "True", "False", "TRUE", "FALSE" -> true;
            default -> false;
        };
    }

    /** Returns whether a text is a floating-point number. Digits alone are an integer. */
    static boolean isFloat(String value) {
        return Numbers.isFloat(value) && !Numbers.isInteger(value) && !Double.isInfinite(Double.parseDouble(value));
    }

    ScalarType type() {
        if (!any) {
            return ScalarType.UTF8;
        }
        if (bool) {
            return ScalarType.BOOL;
        }
        return int64 ? ScalarType.INT64 : float64 && finite ? ScalarType.FLOAT64 : ScalarType.UTF8;
    }

    boolean isEmpty() {
        return !any;
    }
}
