package dev.stoker.formats.expression;

import dev.stoker.formats.RowColumn;
import dev.stoker.formats.filter.Literal;
import dev.stoker.formats.filter.RowPredicate;
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
    private final Map<String, RowColumn> columns;

    /** @param columns by name */
    Binding(Map<String, RowColumn> columns) {
        this.columns = columns;
    }

    RowPredicate bind(Condition condition) {
        if (condition instanceof Condition.Comparison comparison) {
            return comparison(column(comparison.column()), comparison.operator(), comparison.value());
        }
        if (condition instanceof Condition.IsNull isNull) {
            return new RowPredicate.IsNull(column(isNull.column()).name());
        }
        if (condition instanceof Condition.Flag flag) {
            return flag(column(flag.column()));
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

    private RowColumn column(String name) {
        RowColumn column = columns.get(name);
        if (column == null) {
            String other = columns.keySet().stream()
                    .filter(name::equalsIgnoreCase)
                    .findFirst()
                    .map(close -> "; there is " + close + ", and names must have the same case")
                    .orElse("");
            throw new IllegalArgumentException("there is no column " + name + other);
        }
        return column;
    }

    private static RowPredicate flag(RowColumn column) {
        if (column.type() != ScalarType.BOOL) {
            throw new IllegalArgumentException(
                    "the column " + shown(column) + " is no condition alone; compare it with a value");
        }
        return new RowPredicate.Comparison(
                column.name(), RowPredicate.Operator.EQUAL, Literal.of(column.type(), "true"));
    }

    private static RowPredicate comparison(RowColumn column, RowPredicate.Operator operator, ExpressionValue value) {
        Set<ExpressionValue.Kind> kinds = kinds(column.type());
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
            return new RowPredicate.Comparison(column.name(), operator, Literal.of(column.type(), value.text()));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "the column " + shown(column) + " cannot be compared: " + e.getMessage(), e);
        }
    }

    private static String shown(RowColumn column) {
        return column.name() + " of type " + column.type().canonical();
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
