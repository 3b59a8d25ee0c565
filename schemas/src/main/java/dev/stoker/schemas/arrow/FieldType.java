package dev.stoker.schemas.arrow;

import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Describes the type of a column. {@link #parse} and {@link #canonical} convert from and to the canonical string. */
public sealed interface FieldType permits ScalarType, ListType, TensorType, FixedBinaryType {

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
        /** Validity; child: validity, values of one width per row. */
        TENSOR
    }

    /** Returns the canonical string, such as {@code int32}, {@code int32[]} or {@code float32[3,224,224]}. */
    String canonical();

    /** Returns the layout of the column in Arrow buffers. */
    Layout layout();

    /**
     * Returns the bytes per row for FIXED and TENSOR, per offset unit for BYTES (1) and LIST (the element's width), and
     * 0 for BITS.
     */
    int width();

    /** Returns whether a field of this type may be a payload field: utf8, binary, lists and tensors. */
    default boolean mayBePayload() {
        return layout() != Layout.BITS && layout() != Layout.FIXED;
    }

    /** Returns whether rows differ in length, so that the column has an offsets buffer. */
    default boolean hasOffsets() {
        return layout() == Layout.BYTES || layout() == Layout.LIST;
    }

    /** Returns the type with this {@link #canonical} string. Throws IllegalArgumentException for any other text. */
    static FieldType parse(String text) {
        Matcher nullItems = Parsing.NULL_ITEMS.matcher(text);
        if (nullItems.matches()) {
            throw new IllegalArgumentException("items of lists and tensors cannot be null: '" + text + "'; use '"
                    + nullItems.group(1) + nullItems.group(2) + "'; the field itself may be nullable");
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

        private static final Pattern NULL_ITEMS = Pattern.compile("([a-z0-9]+)\\?(\\[[0-9,]*])");

        private Parsing() {}

        static IllegalArgumentException unknown(String text) {
            return new IllegalArgumentException(String.format(
                    Locale.ROOT,
                    "unknown type '%s'; known are %s, lists such as int32[] and tensors such as float32[3,224,224]",
                    text,
                    ScalarType.names()));
        }
    }
}
