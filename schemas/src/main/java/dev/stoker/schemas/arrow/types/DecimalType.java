package dev.stoker.schemas.arrow.types;

import java.math.BigDecimal;
import java.math.BigInteger;

/**
 * Describes decimal numbers: Arrow {@code Decimal} of 128 bits. A value is the unscaled number as 16 bytes of two's
 * complement, little-endian.
 *
 * @param precision maximum number of digits, 1 to 38
 * @param scale number of digits behind the decimal point, 0 to precision
 */
public record DecimalType(int precision, int scale) implements FieldType {
    /** Bytes of a value. */
    public static final int WIDTH = 16;

    static final int MAX_PRECISION = 38;

    /** Powers of ten from 0 to 38, the upper and the lower 64 bits. */
    private static final long[] HIGH = new long[MAX_PRECISION + 1];

    private static final long[] LOW = new long[MAX_PRECISION + 1];

    static {
        for (int p = 0; p <= MAX_PRECISION; p++) {
            BigInteger power = BigInteger.TEN.pow(p);
            HIGH[p] = power.shiftRight(64).longValue();
            LOW[p] = power.longValue();
        }
    }

    public DecimalType {
        if (precision < 1 || precision > MAX_PRECISION) {
            throw new IllegalArgumentException("a decimal has 1 to 38 digits, not " + precision
                    + "; decimals of 256 bits are not supported; use utf8 for longer numbers");
        }
        if (scale < 0 || scale > precision) {
            throw new IllegalArgumentException(
                    "the scale of a decimal with " + precision + " digits is 0 to " + precision + ", not " + scale);
        }
    }

    @Override
    public String canonical() {
        return "decimal(" + precision + "," + scale + ")";
    }

    @Override
    public Layout layout() {
        return Layout.FIXED;
    }

    @Override
    public int width() {
        return WIDTH;
    }

    @Override
    public String toString() {
        return canonical();
    }

    /** Returns whether an unscaled value, the upper and the lower 64 bits, has at most {@link #precision} digits. */
    public boolean holds(long high, long low) {
        long absoluteLow = high < 0 ? -low : low;
        long absoluteHigh = high < 0 ? ~high + (low == 0 ? 1 : 0) : high;
        if (absoluteHigh < 0) {
            return false;
        }
        return absoluteHigh != HIGH[precision]
                ? absoluteHigh < HIGH[precision]
                : Long.compareUnsigned(absoluteLow, LOW[precision]) < 0;
    }

    /**
     * Returns the unscaled value of a number.
     *
     * @throws IllegalArgumentException if the number does not fit without rounding
     */
    public BigInteger unscaled(BigDecimal value) {
        // Checked first: setScale of 1e999999999 would need gigabytes.
        if (value.signum() == 0) {
            return BigInteger.ZERO;
        }
        if ((long) value.precision() - value.scale() > precision - scale) {
            throw refused(value);
        }
        try {
            return value.setScale(scale).unscaledValue();
        } catch (ArithmeticException e) {
            throw refused(value);
        }
    }

    private IllegalArgumentException refused(BigDecimal value) {
        return new IllegalArgumentException(value + " is not a number of at most " + (precision - scale)
                + " digits before and " + scale + " behind the decimal point, the range of " + this);
    }
}
