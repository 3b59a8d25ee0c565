package dev.stoker.connectors.dataset;

import java.io.Serializable;
import java.util.List;

/**
 * Compares a small field or the key with constants. A null value matches only {@link Operator#IS_NULL}.
 *
 * @param column the key or a small field
 * @param operator compares the value with the constants
 * @param constants none for the checks for null, at least one for {@link Operator#IN}, otherwise one. They are
 *     {@link Long} for integers, bools and dates, {@link Double} for floating-point numbers, and {@link String} for
 *     texts and classes. Texts can only be compared for equality.
 */
public record FieldFilter(String column, Operator operator, List<Object> constants) implements Serializable {
    private static final long serialVersionUID = 1;

    /** Lists the comparisons. */
    public enum Operator {
        EQUAL,
        NOT_EQUAL,
        LESS,
        LESS_OR_EQUAL,
        GREATER,
        GREATER_OR_EQUAL,
        IN,
        IS_NULL,
        IS_NOT_NULL
    }

    public FieldFilter {
        constants = List.copyOf(constants);
        int size = constants.size();
        boolean fits = switch (operator) {
            case IS_NULL, IS_NOT_NULL -> size == 0;
            case IN -> size >= 1;
            default -> size == 1;
        };
        if (!fits) {
            throw new IllegalArgumentException(
                    "Filter of column '" + column + "': " + operator + " with " + size + " constants");
        }
        for (Object constant : constants) {
            boolean isText = constant instanceof String;
            if (!isText && !(constant instanceof Long) && !(constant instanceof Double)) {
                throw new IllegalArgumentException(
                        "Filter of column '" + column + "': a constant is a " + constant.getClass());
            }
            if (isText && isOrdered(operator)) {
                throw new IllegalArgumentException(
                        "Filter of column '" + column + "': texts are compared for equality only, not " + operator);
            }
        }
    }

    private static boolean isOrdered(Operator operator) {
        return operator.ordinal() >= Operator.LESS.ordinal()
                && operator.ordinal() <= Operator.GREATER_OR_EQUAL.ordinal();
    }

    /** Returns whether the value of a column of the sample matches. */
    public boolean matches(Sample sample, int index) {
        if (sample.isNull(index)) {
            return operator == Operator.IS_NULL;
        }
        return switch (operator) {
            case IS_NULL -> false;
            case IS_NOT_NULL -> true;
            default -> {
                for (Object constant : constants) {
                    if (matches(sample, index, constant)) {
                        yield true;
                    }
                }
                yield false;
            }
        };
    }

    private boolean matches(Sample sample, int index, Object constant) {
        if (constant instanceof String text) {
            return sample.stringAt(index).equals(text) == (operator != Operator.NOT_EQUAL);
        }
        if (constant instanceof Double number) {
            return matches(sample.doubleAt(index), number);
        }
        int order = Long.compare(sample.longAt(index), (Long) constant);
        return switch (operator) {
            case LESS -> order < 0;
            case LESS_OR_EQUAL -> order <= 0;
            case GREATER -> order > 0;
            case GREATER_OR_EQUAL -> order >= 0;
            case NOT_EQUAL -> order != 0;
            default -> order == 0;
        };
    }

    /** Compares as SQL does: nothing is less than, equal to or greater than NaN, and both zeros are equal. */
    private boolean matches(double value, double number) {
        return switch (operator) {
            case LESS -> value < number;
            case LESS_OR_EQUAL -> value <= number;
            case GREATER -> value > number;
            case GREATER_OR_EQUAL -> value >= number;
            case NOT_EQUAL -> value != number;
            default -> value == number;
        };
    }
}
