package dev.stoker.schemas.condition;

import java.util.List;
import java.util.Objects;

/**
 * A condition on the values of a row, with the three values of SQL: a comparison with null is neither true nor false,
 * and so is its negation. A row is kept if the condition is true.
 */
public sealed interface RowPredicate {
    /** How a value compares with a literal. */
    enum Operator {
        EQUAL("="),
        NOT_EQUAL("<>"),
        LESS("<"),
        LESS_OR_EQUAL("<="),
        GREATER(">"),
        GREATER_OR_EQUAL(">=");

        private final String text;

        Operator(String text) {
            this.text = text;
        }

        /** Returns the operator as conditions have it. */
        public String text() {
            return text;
        }

        /** Returns whether the result of a comparison satisfies the operator. */
        public boolean accepts(int comparison) {
            return switch (this) {
                case EQUAL -> comparison == 0;
                case NOT_EQUAL -> comparison != 0;
                case LESS -> comparison < 0;
                case LESS_OR_EQUAL -> comparison <= 0;
                case GREATER -> comparison > 0;
                case GREATER_OR_EQUAL -> comparison >= 0;
            };
        }
    }

    /**
     * Compares a column with a literal.
     *
     * @param column name of the column
     * @param literal a value of the column's type, see {@link Literal#of}
     */
    record Comparison(String column, Operator operator, Literal literal) implements RowPredicate {
        public Comparison {
            Objects.requireNonNull(column, "column");
            Objects.requireNonNull(operator, "operator");
            Objects.requireNonNull(literal, "literal");
        }
    }

    /** Is true if the column has no value. */
    record IsNull(String column) implements RowPredicate {}

    /** Is true if all are true. */
    record And(List<RowPredicate> all) implements RowPredicate {
        public And {
            all = List.copyOf(all);
        }
    }

    /** Is true if one is true. */
    record Or(List<RowPredicate> any) implements RowPredicate {
        public Or {
            any = List.copyOf(any);
        }
    }

    /** Is true if the other is false. */
    record Not(RowPredicate predicate) implements RowPredicate {}
}
