package dev.stoker.sql.table;

import dev.stoker.connectors.dataset.FieldFilter;
import dev.stoker.connectors.dataset.FieldFilter.Operator;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.apache.flink.table.expressions.CallExpression;
import org.apache.flink.table.expressions.Expression;
import org.apache.flink.table.expressions.FieldReferenceExpression;
import org.apache.flink.table.expressions.ResolvedExpression;
import org.apache.flink.table.expressions.ValueLiteralExpression;
import org.apache.flink.table.functions.BuiltInFunctionDefinitions;
import org.apache.flink.table.functions.FunctionDefinition;
import org.jspecify.annotations.Nullable;

/** Translates conditions of a query. Stateless. */
final class FilterConversion {

    private static final Map<FunctionDefinition, Operator> COMPARISONS = Map.of(
            BuiltInFunctionDefinitions.EQUALS, Operator.EQUAL,
            BuiltInFunctionDefinitions.NOT_EQUALS, Operator.NOT_EQUAL,
            BuiltInFunctionDefinitions.LESS_THAN, Operator.LESS,
            BuiltInFunctionDefinitions.LESS_THAN_OR_EQUAL, Operator.LESS_OR_EQUAL,
            BuiltInFunctionDefinitions.GREATER_THAN, Operator.GREATER,
            BuiltInFunctionDefinitions.GREATER_THAN_OR_EQUAL, Operator.GREATER_OR_EQUAL);

    private static final Map<Operator, Operator> MIRRORED = Map.of(
            Operator.LESS, Operator.GREATER,
            Operator.LESS_OR_EQUAL, Operator.GREATER_OR_EQUAL,
            Operator.GREATER, Operator.LESS,
            Operator.GREATER_OR_EQUAL, Operator.LESS_OR_EQUAL);

    private FilterConversion() {}

    /** A column in a condition, and its type. */
    record Column(String name, FieldType type) {}

    /**
     * Returns the filter that equals the condition; empty if there is none.
     *
     * @param columns finds the column of a reference; empty if it cannot be filtered
     */
    static Optional<FieldFilter> of(
            ResolvedExpression condition, Function<FieldReferenceExpression, Optional<Column>> columns) {
        if (condition instanceof FieldReferenceExpression reference) {
            return columns.apply(reference)
                    .filter(column -> column.type() == ScalarType.BOOL)
                    .map(column -> new FieldFilter(column.name(), Operator.EQUAL, List.of(1L)));
        }
        if (!(condition instanceof CallExpression call)) {
            return Optional.empty();
        }
        FunctionDefinition function = call.getFunctionDefinition();
        List<ResolvedExpression> arguments = call.getResolvedChildren();
        if (function == BuiltInFunctionDefinitions.IS_NULL || function == BuiltInFunctionDefinitions.IS_NOT_NULL) {
            Operator operator =
                    function == BuiltInFunctionDefinitions.IS_NULL ? Operator.IS_NULL : Operator.IS_NOT_NULL;
            return column(arguments.get(0), columns).map(column -> new FieldFilter(column.name(), operator, List.of()));
        }
        if (function == BuiltInFunctionDefinitions.NOT) {
            return column(arguments.get(0), columns)
                    .filter(column -> column.type() == ScalarType.BOOL)
                    .map(column -> new FieldFilter(column.name(), Operator.EQUAL, List.of(0L)));
        }
        if (function == BuiltInFunctionDefinitions.OR || function == BuiltInFunctionDefinitions.IN) {
            return in(function, arguments, columns);
        }
        Operator operator = COMPARISONS.get(function);
        if (operator == null || arguments.size() != 2) {
            return Optional.empty();
        }
        return arguments.get(0) instanceof ValueLiteralExpression
                ? comparison(
                        MIRRORED.getOrDefault(operator, operator), arguments.get(1), arguments.subList(0, 1), columns)
                : comparison(operator, arguments.get(0), arguments.subList(1, 2), columns);
    }

    /** A condition on one column with several constants: IN, or equalities that OR connects. */
    private static Optional<FieldFilter> in(
            FunctionDefinition function,
            List<ResolvedExpression> arguments,
            Function<FieldReferenceExpression, Optional<Column>> columns) {
        if (function == BuiltInFunctionDefinitions.IN) {
            return comparison(Operator.IN, arguments.get(0), arguments.subList(1, arguments.size()), columns);
        }
        List<Object> constants = new ArrayList<>();
        String name = "";
        for (ResolvedExpression argument : arguments) {
            Optional<FieldFilter> part = of(argument, columns);
            boolean fits = part.isPresent()
                    && (part.get().operator() == Operator.EQUAL || part.get().operator() == Operator.IN)
                    && (name.isEmpty() || part.get().column().equals(name));
            if (!fits) {
                return Optional.empty();
            }
            name = part.get().column();
            constants.addAll(part.get().constants());
        }
        return Optional.of(new FieldFilter(name, Operator.IN, constants));
    }

    private static Optional<FieldFilter> comparison(
            Operator operator,
            Expression reference,
            List<ResolvedExpression> literals,
            Function<FieldReferenceExpression, Optional<Column>> columns) {
        Optional<Column> column = column(reference, columns);
        if (column.isEmpty()) {
            return Optional.empty();
        }
        List<Object> constants = new ArrayList<>();
        for (ResolvedExpression literal : literals) {
            Object constant = literal instanceof ValueLiteralExpression value && !value.isNull()
                    ? constant(column.get().type(), value)
                    : null;
            if (constant == null) {
                return Optional.empty();
            }
            constants.add(constant);
        }
        boolean isOrdered = !(operator == Operator.EQUAL || operator == Operator.NOT_EQUAL || operator == Operator.IN);
        if (isOrdered && constants.get(0) instanceof String) {
            return Optional.empty();
        }
        return Optional.of(new FieldFilter(column.get().name(), operator, constants));
    }

    private static Optional<Column> column(
            Expression expression, Function<FieldReferenceExpression, Optional<Column>> columns) {
        return expression instanceof FieldReferenceExpression reference ? columns.apply(reference) : Optional.empty();
    }

    /** Returns the constant as filters compare it; null if the column's values cannot be compared with it. */
    private static @Nullable Object constant(FieldType type, ValueLiteralExpression literal) {
        if (!(type instanceof ScalarType scalar)) {
            return null;
        }
        if (scalar == ScalarType.UTF8 || scalar == ScalarType.CATEGORICAL) {
            return literal.getValueAs(String.class).orElse(null);
        }
        if (scalar == ScalarType.BOOL) {
            return literal.getValueAs(Boolean.class)
                    .map(value -> value ? 1L : 0L)
                    .orElse(null);
        }
        if (scalar == ScalarType.DATE) {
            return literal.getValueAs(LocalDate.class)
                    .map(LocalDate::toEpochDay)
                    .orElse(null);
        }
        Number number = literal.getValueAs(Number.class).orElse(null);
        if (number == null) {
            return null;
        }
        boolean isWhole = number instanceof Long
                || number instanceof Integer
                || number instanceof Short
                || number instanceof Byte;
        if (scalar.isInteger() && scalar != ScalarType.UINT64 && isWhole) {
            return number.longValue();
        }
        return scalar == ScalarType.FLOAT64 && number instanceof Double ? number : null;
    }
}
