package dev.stoker.schemas.arrow.types;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Describes the type of a column. {@link #parse} and {@link #canonical} convert from and to the canonical string. */
public sealed interface FieldType
        permits ScalarType, TimestampType, TimeType, DecimalType, ListType, TensorType, FixedBinaryType {

    /** Lists the layouts of a column in Arrow buffers. */
    enum Layout {
        /** Validity, bitmap. */
        BITS,
        /** Validity, values of one width. */
        FIXED,
        /** Validity, offsets, bytes. */
        BYTES,
        /** Validity, offsets; child: validity, values. */
        LIST,
        /** Validity, offsets; child in the layout BYTES or LIST. */
        NESTED,
        /** Validity; child: validity, values of one width per row. */
        TENSOR
    }

    /** Returns the canonical string, such as {@code int32}, {@code int32[]} or {@code float32[3,224,224]}. */
    String canonical();

    /** Returns the layout of the column in Arrow buffers. */
    Layout layout();

    /**
     * Returns the bytes per row for FIXED and TENSOR, per offset unit for BYTES (1) and LIST (the element's width), per
     * unit of the item offsets for NESTED, and 0 for BITS.
     */
    int width();

    /** Returns whether a field of this type may be a payload field: utf8, binary, lists of numbers and tensors. */
    default boolean mayBePayload() {
        return layout() == Layout.BYTES || numbers() != null;
    }

    /** Returns whether items of a row may be null, as in {@code int32?[]}. */
    default boolean hasNullItems() {
        return false;
    }

    /** Returns the type of the numbers that a row is a run of: that of a list's or tensor's elements. Else null. */
    default @Nullable ScalarType numbers() {
        return null;
    }

    /**
     * Returns the type of the items that are read and written one by one, because they differ in length or may be null.
     * Null for all other types, lists of numbers included.
     */
    default @Nullable FieldType items() {
        return null;
    }

    /** Returns whether rows differ in length, so that the column has an offsets buffer. */
    default boolean hasOffsets() {
        return layout() == Layout.BYTES || layout() == Layout.LIST || layout() == Layout.NESTED;
    }

    /** Returns the type with this {@link #canonical} string. Throws IllegalArgumentException for any other text. */
    static FieldType parse(String text) {
        Matcher nullItems = Parsing.NULL_ITEMS.matcher(text);
        if (nullItems.matches()
                && nullItems.group(2).equals("[]")
                && !nullItems.group(1).endsWith("]")) {
            return new ListType(ScalarType.named(nullItems.group(1)), true);
        }
        if (nullItems.matches()) {
            throw new IllegalArgumentException("items of tensors and of nested lists cannot be null: '" + text
                    + "'; use '" + nullItems.group(1) + nullItems.group(2) + "'; the field itself may be nullable");
        }
        Matcher parameters = Parsing.PARAMETERS.matcher(text);
        if (parameters.matches()) {
            return Parsing.parametrized(parameters);
        }
        if (text.endsWith("[][]")) {
            return new ListType(parse(text.substring(0, text.length() - 2)));
        }
        Matcher brackets = Parsing.BRACKETS.matcher(text);
        if (!brackets.matches()) {
            return ScalarType.named(text);
        }
        ScalarType element = ScalarType.named(brackets.group(1));
        if (brackets.group(2).isEmpty()) {
            return new ListType(element);
        }
        return new TensorType(
                element,
                List.of(brackets.group(2).split(",")).stream()
                        .map(Integer::valueOf)
                        .toList());
    }

    /** Keeps the pattern out of the interface's public constants. */
    final class Parsing {
        private static final Pattern BRACKETS =
                Pattern.compile("([a-z0-9]+)\\[((?:[1-9][0-9]{0,8})(?:,[1-9][0-9]{0,8}){0,31}|)]");

        private static final Pattern NULL_ITEMS = Pattern.compile("([a-z0-9]+(?:\\[])?)\\?(\\[[0-9,]*](?:\\[])?)");

        private static final Pattern PARAMETERS =
                Pattern.compile("timestamp\\[(?<unit>s|ms|us|ns)(?:,(?<zone>[^]]*))?]|time\\[(?<time>s|ms|us|ns)]"
                        + "|decimal(?<wide>256)?\\((?<precision>[1-9][0-9]{0,8}),(?<scale>0|[1-9][0-9]{0,8})\\)");

        private Parsing() {}

        private static FieldType parametrized(Matcher text) {
            if (text.group("wide") != null) {
                throw new IllegalArgumentException("decimal256 is not supported: '" + text.group()
                        + "'; use decimal(p,s) with at most 38 digits, or utf8");
            }
            if (text.group("precision") != null) {
                return new DecimalType(
                        Integer.parseInt(text.group("precision")), Integer.parseInt(text.group("scale")));
            }
            if (text.group("time") != null) {
                return new TimeType(TimeResolution.named(text.group("time")));
            }
            return new TimestampType(TimeResolution.named(text.group("unit")), Optional.ofNullable(text.group("zone")));
        }

        static IllegalArgumentException unknown(String text) {
            return new IllegalArgumentException(String.format(
                    Locale.ROOT,
                    "unknown type '%s'; known are %s, timestamp[us], timestamp[us,Europe/Berlin], time[us], "
                            + "decimal(10,2), lists such as int32[], utf8[], int32?[] and int32[][], and tensors "
                            + "such as float32[3,224,224]",
                    text,
                    ScalarType.names()));
        }
    }
}
