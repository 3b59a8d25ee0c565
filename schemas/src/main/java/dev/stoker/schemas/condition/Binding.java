package dev.stoker.schemas.condition;

import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Gives the values of conditions the types of their columns. */
final class Binding {
    private final Map<String, FieldType> types;

    /** @param types of the columns, by name */
    Binding(Map<String, FieldType> types) {
        this.types = types;
    }

    RowPredicate bind(Condition condition) {
        if (condition instanceof Condition.Comparison comparison) {
            return comparison(comparison);
        }
        if (condition instanceof Condition.IsNull isNull) {
            type(isNull.column());
            return new RowPredicate.IsNull(isNull.column());
        }
        if (condition instanceof Condition.Flag flag) {
            return flag(flag.column());
        }
        if (condition instanceof Condition.Not not) {
            return new RowPredicate.Not(bind(not.condition()));
        }
        if (condition instanceof Condition.And and) {
            return new RowPredicate.And(and.all().stream().map(this::bind).toList());
        }
        return new RowPredicate.Or(
                ((Condition.Or) condition).any().stream().map(this::bind).toList());
    }

    private FieldType type(String name) {
        FieldType type = types.get(name);
        if (type == null) {
            String other = types.keySet().stream()
                    .filter(name::equalsIgnoreCase)
                    .findFirst()
                    .map(close -> "; there is " + close + ", and names must have the same case")
                    .orElse("");
            throw new IllegalArgumentException("there is no column " + name + other);
        }
        return type;
    }

    private RowPredicate flag(String column) {
        FieldType type = type(column);
        if (type != ScalarType.BOOL) {
            throw new IllegalArgumentException(
                    "the column " + shown(column) + " is no condition alone; compare it with a value");
        }
        return new RowPredicate.Comparison(column, RowPredicate.Operator.EQUAL, Literal.of(type, "true"));
    }

    private RowPredicate comparison(Condition.Comparison comparison) {
        String column = comparison.column();
        FieldType type = type(column);
        ExpressionValue value = comparison.value();
        Set<ExpressionValue.Kind> kinds = kinds(type);
        if (kinds.isEmpty()) {
            throw new IllegalArgumentException("the column " + shown(column)
                    + " cannot be compared; only IS NULL and IS NOT NULL work for its type");
        }
        if (!kinds.contains(value.kind())) {
            throw new IllegalArgumentException("the column " + shown(column) + " cannot be compared with "
                    + value.shown() + ", which is " + value.kind() + "; give "
                    + kinds.stream().map(ExpressionValue.Kind::toString).collect(Collectors.joining(" or ")));
        }
        try {
            return new RowPredicate.Comparison(column, comparison.operator(), Literal.of(type, value.text()));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "the column " + shown(column) + " cannot be compared: " + e.getMessage(), e);
        }
    }

    private String shown(String column) {
        return column + " of type " + type(column).canonical();
    }

    /** Returns how values for a column can be written; nothing for lists and tensors. */
    private static Set<ExpressionValue.Kind> kinds(FieldType type) {
        if (type == ScalarType.BOOL) {
            return EnumSet.of(ExpressionValue.Kind.BOOL);
        }
        if (type == ScalarType.UTF8 || type == ScalarType.CATEGORICAL || type == ScalarType.BINARY) {
            return EnumSet.of(ExpressionValue.Kind.TEXT);
        }
        if (type == ScalarType.DATE) {
            return EnumSet.of(ExpressionValue.Kind.TEXT, ExpressionValue.Kind.DATE);
        }
        if (type instanceof TimeType) {
            return EnumSet.of(ExpressionValue.Kind.TEXT, ExpressionValue.Kind.TIME);
        }
        if (type instanceof TimestampType) {
            return EnumSet.of(ExpressionValue.Kind.TEXT, ExpressionValue.Kind.DATE, ExpressionValue.Kind.TIMESTAMP);
        }
        boolean isNumber = type instanceof DecimalType || type instanceof ScalarType;
        return isNumber ? EnumSet.of(ExpressionValue.Kind.NUMBER) : EnumSet.noneOf(ExpressionValue.Kind.class);
    }
}
