package dev.stoker.schemas.arrow.types;

/** Converts 16-bit floating-point numbers. Rounds to nearest, ties to even. */
public final class HalfFloats {
    private HalfFloats() {}

    /** Returns the IEEE 754 binary16. */
    public static short float16(double value) {
        long bits = Double.doubleToRawLongBits(value);
        int sign = (int) (bits >>> 48) & 0x8000;
        double magnitude = Math.abs(value);
        if (Double.isNaN(value)) {
            return (short) (sign | 0x7E00);
        }
        // 65,520 is half-way between the greatest finite number and the number that would follow it.
        if (magnitude >= 65520.0) {
            return (short) (sign | 0x7C00);
        }
        if (magnitude < 0x1p-14) {
            return (short) (sign | (int) Math.rint(magnitude * 0x1p24));
        }
        int exponent = Math.getExponent(magnitude);
        int mantissa = (int) Math.rint(Math.scalb(magnitude, 10 - exponent));
        return (short) (sign | (((exponent + 14) << 10) + mantissa));
    }

    /** Returns the upper half of the binary32 that is nearest to the value. */
    public static short bfloat16(double value) {
        int bits = Float.floatToRawIntBits((float) value);
        if (Double.isNaN(value)) {
            return (short) ((bits >>> 16) | 0x40);
        }
        return (short) ((bits + 0x7FFF + ((bits >>> 16) & 1)) >>> 16);
    }

    /** Returns the number that the bits stand for. */
    public static double fromFloat16(short half) {
        int exponent = (half >>> 10) & 0x1F;
        int mantissa = half & 0x3FF;
        double magnitude;
        if (exponent == 0x1F) {
            magnitude = mantissa == 0 ? Double.POSITIVE_INFINITY : Double.NaN;
        } else if (exponent == 0) {
            magnitude = mantissa * 0x1p-24;
        } else {
            magnitude = Math.scalb(mantissa + 1024.0, exponent - 25);
        }
        return half < 0 ? -magnitude : magnitude;
    }

    /** Returns the number that the bits stand for. */
    public static double fromBfloat16(short half) {
        return Float.intBitsToFloat(half << 16);
    }
}
