package dev.stoker.schemas.arrow;

import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.FixedBinaryType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.values.NumberBytes;
import dev.stoker.schemas.values.Utf8Check;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether values fit a column. If one does not, the method throws an IllegalArgumentException that names the
 * column. Stateless.
 *
 * @param field the column's description
 */
record ValueChecks(ArrowField field) {
    void integer(ScalarType scalar, long value) {
        if (!scalar.isInteger() && scalar != ScalarType.CATEGORICAL && scalar != ScalarType.DATE) {
            throw wrongKind("an integer");
        }
        if (!NumberBytes.fits(scalar, value)) {
            throw outOf(value, NumberBytes.least(scalar), NumberBytes.greatest(scalar));
        }
    }

    ByteBuffer encoded(String value) {
        if (!hasSurrogate(value)) {
            // Several times as fast as an encoder, which tells of half a pair.
            return ByteBuffer.wrap(value.getBytes(StandardCharsets.UTF_8));
        }
        try {
            return StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(value));
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("column " + field.name() + ": the text has half a surrogate pair", e);
        }
    }

    List<@Nullable ByteBuffer> encoded(List<? extends @Nullable String> items) {
        List<@Nullable ByteBuffer> encoded = new ArrayList<>(items.size());
        for (String item : items) {
            encoded.add(item == null ? null : encoded(item));
        }
        return encoded;
    }

    private static boolean hasSurrogate(String value) {
        for (int i = 0; i < value.length(); i++) {
            if (Character.isSurrogate(value.charAt(i))) {
                return true;
            }
        }
        return false;
    }

    void range(long value, long least, long greatest) {
        if (value < least || value > greatest) {
            throw outOf(value, least, greatest);
        }
    }

    private IllegalArgumentException outOf(long value, long least, long greatest) {
        return new IllegalArgumentException("column " + field.name() + ": " + value + " is not between " + least
                + " and " + greatest + ", the range of " + field.type());
    }

    void magnitude(ScalarType scalar, double value) {
        if (scalar.isExceededBy(value)) {
            throw new IllegalArgumentException(
                    "column " + field.name() + ": " + value + " is too large for a " + scalar);
        }
    }

    void bytes(int length) {
        boolean fits = switch (field.type().layout()) {
            case BITS, NESTED -> false;
            case FIXED ->
                (field.type() instanceof FixedBinaryType || field.type() instanceof DecimalType)
                        && length == field.type().width();
            case TENSOR -> length == field.type().width();
            case BYTES, LIST -> length % field.type().width() == 0;
        };
        if (!fits) {
            throw new IllegalArgumentException(
                    "column " + field.name() + ": " + length + " bytes are no value of type " + field.type());
        }
    }

    /** Returns the type of an item of a list that {@link ColumnBuilder#appendItems} takes; null for other types. */
    @Nullable
    FieldType itemType() {
        return field.type().items();
    }

    void items(List<? extends @Nullable ByteBuffer> items) {
        FieldType type = itemType();
        if (type == null) {
            throw wrongKind("a list of items");
        }
        int width = field.type().width();
        boolean isNumber = field.type().layout() == FieldType.Layout.LIST;
        for (ByteBuffer item : items) {
            if (item == null) {
                if (!field.type().hasNullItems()) {
                    String advice = type instanceof ScalarType ? "; the type " + type + "?[] can hold it" : "";
                    throw new IllegalArgumentException("column " + field.name() + ": an item is null, and items of "
                            + field.type() + " cannot be" + advice);
                }
                continue;
            }
            if (isNumber ? item.remaining() != width : item.remaining() % width != 0) {
                throw new IllegalArgumentException(
                        "column " + field.name() + ": " + item.remaining() + " bytes are no item of type " + type);
            }
            if (type == ScalarType.UTF8) {
                utf8(item);
            }
        }
    }

    void decimal(DecimalType decimal, ByteBuffer bytes) {
        long low = bytes.getLong(bytes.position());
        long high = bytes.getLong(bytes.position() + 8);
        if (!decimal.holds(high, low)) {
            BigInteger unscaled =
                    BigInteger.valueOf(high).shiftLeft(64).add(new BigInteger(Long.toUnsignedString(low)));
            throw new IllegalArgumentException("column " + field.name() + ": the unscaled number " + unscaled
                    + " has more than " + decimal.precision() + " digits, the maximum of " + decimal);
        }
    }

    void utf8(ByteBuffer bytes) {
        if (!Utf8Check.isValid(bytes)) {
            throw new IllegalArgumentException("column " + field.name() + ": the bytes are not UTF-8");
        }
    }

    IllegalArgumentException notNullable() {
        return new IllegalArgumentException("column " + field.name() + " is not nullable");
    }

    IllegalArgumentException wrongKind(String given) {
        return new IllegalArgumentException(
                "column " + field.name() + " has the type " + field.type() + ", not " + given);
    }
}
