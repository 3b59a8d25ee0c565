package dev.stoker.formats.convert;

import dev.stoker.formats.values.TextValue;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.arrow.types.TimeResolution;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Says whether values of one type can be read as another type, or stored in a field of another type. This is the only
 * such rule. A conversion never changes a value, except that floating-point numbers are rounded.
 */
public enum Conversion {
    /** The types are equal. */
    NONE,
    /** Each value of the one type is a value of the other. */
    EXACT,
    /** Some values are. Each one is checked. */
    CHECKED,
    /** A field takes the values as they are. It checks each one, and rounds floating-point numbers. */
    BY_FIELD,
    /** The types are about other things, or no rule exists. */
    IMPOSSIBLE;

    /** Returns the conversion of values of one type to another. */
    public static Conversion of(FieldType from, FieldType to) {
        if (from.equals(to)) {
            return NONE;
        }
        if (from instanceof ScalarType source && to instanceof ScalarType target && to != ScalarType.DATE) {
            return scalars(source, target);
        }
        if (from instanceof DecimalType source && to instanceof DecimalType target) {
            int digits = target.precision() - target.scale();
            return target.scale() >= source.scale() && digits >= source.precision() - source.scale() ? EXACT : CHECKED;
        }
        if (unit(from) != null && unit(to) != null && from.getClass() == to.getClass()) {
            return isZoned(from) == isZoned(to) ? CHECKED : IMPOSSIBLE;
        }
        if (from == ScalarType.UTF8 && TextValue.isParsed(to)) {
            return CHECKED;
        }
        if (from instanceof ScalarType source && source.isInteger()) {
            return to instanceof DecimalType
                    ? CHECKED
                    : isTime(to) && source != ScalarType.UINT64 ? BY_FIELD : IMPOSSIBLE;
        }
        if (item(from).isPresent() && item(to).isPresent()) {
            return BY_FIELD;
        }
        return element(from).isPresent() && element(to).isPresent() ? lists(from, to) : IMPOSSIBLE;
    }

    /** Sinks check the number of elements and null items. */
    private static Conversion lists(FieldType from, FieldType to) {
        Conversion elements = numbers(element(from).orElseThrow(), element(to).orElseThrow());
        if (isOfLists(from) != isOfLists(to) || elements == IMPOSSIBLE) {
            return IMPOSSIBLE;
        }
        if (elements != NONE && elements != EXACT) {
            return CHECKED;
        }
        boolean isSameShape = from instanceof TensorType own
                && to instanceof TensorType other
                && own.shape().equals(other.shape());
        boolean isFree = !(to instanceof TensorType) || isSameShape;
        boolean takesNulls = !from.hasNullItems() || to.hasNullItems();
        return isFree && takesNulls ? EXACT : CHECKED;
    }

    /** Returns the type that holds the values of both, if there is one that needs no check. */
    public static Optional<FieldType> common(FieldType a, FieldType b) {
        if (!a.equals(b) && Set.of(a, b).equals(Set.of(ScalarType.UTF8, ScalarType.CATEGORICAL))) {
            return Optional.of(ScalarType.UTF8);
        }
        if (a instanceof TimestampType x
                && b instanceof TimestampType y
                && x.unit() == y.unit()
                && x.zone().isPresent()
                && y.zone().isPresent()
                && !x.equals(y)) {
            return Optional.of(TimestampType.zoned(x.unit(), "UTC"));
        }
        if (of(a, b) == EXACT || isCoarser(a, b)) {
            return Optional.of(b);
        }
        return of(b, a) == EXACT || isCoarser(b, a) ? Optional.of(a) : Optional.empty();
    }

    /** Returns whether the second type would give the numbers of dates and times another meaning. */
    public static boolean changesMeaning(FieldType from, FieldType to) {
        return isTime(from) && isTime(to) && of(from, to) == IMPOSSIBLE;
    }

    private static boolean isTime(FieldType type) {
        return type == ScalarType.DATE || unit(type) != null;
    }

    /** Returns whether the values of a column are read as another type, before a field takes them. */
    public boolean isRead() {
        return this == EXACT || this == CHECKED;
    }

    /** Returns whether the second type has numbers of the same kind, but fewer values than the first one. */
    public static boolean narrows(FieldType from, FieldType to) {
        ScalarType source = element(from).orElse(from instanceof ScalarType scalar ? scalar : null);
        ScalarType target = element(to).orElse(to instanceof ScalarType scalar ? scalar : null);
        if (source == null || target == null || !source.isNumber() || !target.isNumber()) {
            return false;
        }
        Conversion numbers = numbers(source, target);
        return (numbers == CHECKED && target.isInteger()) || numbers == BY_FIELD;
    }

    /** Returns whether both are times of one kind, and the second one has the values of the first for all years. */
    private static boolean isCoarser(FieldType a, FieldType b) {
        TimeResolution from = unit(a);
        TimeResolution to = unit(b);
        boolean isOneKind = a.getClass() == b.getClass()
                && (!(a instanceof TimestampType x)
                        || !(b instanceof TimestampType y)
                        || x.zone().equals(y.zone()));
        return from != null
                && to != null
                && isOneKind
                && from.compareTo(to) < 0
                && (a instanceof TimeType || to != TimeResolution.NANOSECONDS);
    }

    private static Conversion scalars(ScalarType from, ScalarType to) {
        boolean isText = from == ScalarType.UTF8 && to == ScalarType.CATEGORICAL;
        boolean isClass = from == ScalarType.CATEGORICAL && to == ScalarType.UTF8;
        if (isText || isClass) {
            return CHECKED;
        }
        if (to == ScalarType.CATEGORICAL && (from == ScalarType.BOOL || from == ScalarType.UINT64)) {
            return CHECKED;
        }
        boolean isBytes = isBytes(from) && (isBytes(to) || to == ScalarType.CATEGORICAL);
        boolean isInteger = from.isInteger() && (to == ScalarType.CATEGORICAL || to == ScalarType.BOOL);
        return isBytes || isInteger ? BY_FIELD : from.isNumber() && to.isNumber() ? numbers(from, to) : IMPOSSIBLE;
    }

    private static Conversion numbers(ScalarType from, ScalarType to) {
        if (from == to) {
            return NONE;
        }
        if (!from.isNumber() || !to.isNumber()) {
            return IMPOSSIBLE;
        }
        if (from.isInteger()) {
            boolean isExact = to.isFloat()
                    ? bits(from) <= mantissa(to)
                    : isSigned(from) ? isSigned(to) && to.width() > from.width() : bits(from) <= bits(to);
            return isExact ? EXACT : CHECKED;
        }
        boolean isWider = mantissa(to) > mantissa(from) && to.width() > from.width();
        return !to.isFloat() ? IMPOSSIBLE : isWider ? EXACT : BY_FIELD;
    }

    private static boolean isBytes(ScalarType type) {
        return type == ScalarType.UTF8 || type == ScalarType.BINARY;
    }

    private static boolean isZoned(FieldType type) {
        return type instanceof TimestampType timestamp && timestamp.zone().isPresent();
    }

    static boolean isSigned(ScalarType integer) {
        return integer.ordinal() <= ScalarType.INT64.ordinal();
    }

    /** Returns the bits of the greatest value of an integer. */
    private static int bits(ScalarType integer) {
        return 8 * integer.width() - (isSigned(integer) ? 1 : 0);
    }

    /** Returns the bits up to which all integers are values. */
    private static int mantissa(ScalarType real) {
        return switch (real) {
            case FLOAT16 -> 11;
            case BFLOAT16 -> 8;
            case FLOAT32 -> 24;
            case FLOAT64 -> 53;
            default -> 0;
        };
    }

    static @Nullable TimeResolution unit(FieldType type) {
        return type instanceof TimestampType timestamp
                ? timestamp.unit()
                : type instanceof TimeType time ? time.unit() : null;
    }

    /** Returns whether values of a type are lists, so that lists without values can be read as this type. */
    public static boolean isList(FieldType type) {
        return item(type).isPresent() || element(type).isPresent();
    }

    /** Returns the type of the items of lists of text or of binary. */
    private static Optional<ScalarType> item(FieldType type) {
        return type instanceof ListType list && isBytes(list.element())
                ? Optional.of(list.element())
                : Optional.empty();
    }

    private static boolean isOfLists(FieldType type) {
        return type instanceof ListType list && list.isOfLists();
    }

    /** Returns the type of the numbers in lists and tensors. */
    public static Optional<ScalarType> element(FieldType type) {
        return type instanceof ListType list
                ? Optional.of(list.element()).filter(ScalarType::isNumber)
                : Optional.ofNullable(type.numbers());
    }
}
