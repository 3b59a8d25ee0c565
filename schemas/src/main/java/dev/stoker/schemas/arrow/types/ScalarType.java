package dev.stoker.schemas.arrow.types;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Lists the types with one value per row. */
public enum ScalarType implements FieldType {
    BOOL(Layout.BITS, 0),
    INT8(Layout.FIXED, 1),
    INT16(Layout.FIXED, 2),
    INT32(Layout.FIXED, 4),
    INT64(Layout.FIXED, 8),
    UINT8(Layout.FIXED, 1),
    UINT16(Layout.FIXED, 2),
    UINT32(Layout.FIXED, 4),
    UINT64(Layout.FIXED, 8),
    FLOAT16(Layout.FIXED, 2),
    FLOAT32(Layout.FIXED, 4),
    FLOAT64(Layout.FIXED, 8),
    /** The upper half of a float32: an Arrow uint16 whose field has {@code stoker.type=bfloat16}. */
    BFLOAT16(Layout.FIXED, 2),
    UTF8(Layout.BYTES, 1),
    BINARY(Layout.BYTES, 1),
    /** A class name: an Arrow int32 whose field has {@code stoker.type=categorical}. */
    CATEGORICAL(Layout.FIXED, 4),
    /** A day: the days since 1970-01-01. */
    DATE(Layout.FIXED, 4);

    private final Layout layout;
    private final int width;
    private final String canonical = name().toLowerCase(Locale.ROOT);

    ScalarType(Layout layout, int width) {
        this.layout = layout;
        this.width = width;
    }

    @Override
    public String canonical() {
        return canonical;
    }

    @Override
    public Layout layout() {
        return layout;
    }

    @Override
    public int width() {
        return width;
    }

    /** Returns whether values are numbers of a fixed width in bytes, so that lists and tensors of them exist. */
    public boolean isNumber() {
        return layout == Layout.FIXED && this != CATEGORICAL && this != DATE;
    }

    /** Returns whether values are integers, CATEGORICAL's ids not counted. */
    public boolean isInteger() {
        return ordinal() >= INT8.ordinal() && ordinal() <= UINT64.ordinal();
    }

    /** Returns whether values are floating-point numbers. */
    public boolean isFloat() {
        return this == FLOAT16 || this == FLOAT32 || this == FLOAT64 || this == BFLOAT16;
    }

    /** Returns whether a finite number becomes infinite in this floating-point type. */
    public boolean isExceededBy(double value) {
        return Double.isInfinite(nearest(value)) && !Double.isInfinite(value);
    }

    /** Returns the nearest number that this floating-point type has, ties to even. */
    public double nearest(double value) {
        return switch (this) {
            case FLOAT16 -> HalfFloats.fromFloat16(HalfFloats.float16(value));
            case BFLOAT16 -> HalfFloats.fromBfloat16(HalfFloats.bfloat16(value));
            case FLOAT32 -> (float) value;
            default -> value;
        };
    }

    @Override
    public String toString() {
        return canonical;
    }

    static ScalarType named(String text) {
        for (ScalarType type : values()) {
            if (type.canonical.equals(text)) {
                return type;
            }
        }
        throw Parsing.unknown(text);
    }

    public static String names() {
        return Arrays.stream(values()).map(ScalarType::canonical).collect(Collectors.joining(", "));
    }
}
