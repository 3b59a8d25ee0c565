package dev.stoker.schemas.condition;

import java.util.List;
import java.util.Set;

/** A condition whose values have no type yet. */
sealed interface Condition {
    /** Adds the names of the columns. */
    void collect(Set<String> columns);

    /** Compares a column with a value. */
    record Comparison(String column, RowPredicate.Operator operator, ExpressionValue value) implements Condition {
        @Override
        public void collect(Set<String> columns) {
            columns.add(column);
        }
    }

    /** Is true if the column has no value. */
    record IsNull(String column) implements Condition {
        @Override
        public void collect(Set<String> columns) {
            columns.add(column);
        }
    }

    /** A column of type bool without a comparison. */
    record Flag(String column) implements Condition {
        @Override
        public void collect(Set<String> columns) {
            columns.add(column);
        }
    }

    record And(List<Condition> all) implements Condition {
        @Override
        public void collect(Set<String> columns) {
            all.forEach(part -> part.collect(columns));
        }
    }

    record Or(List<Condition> any) implements Condition {
        @Override
        public void collect(Set<String> columns) {
            any.forEach(part -> part.collect(columns));
        }
    }

    record Not(Condition condition) implements Condition {
        @Override
        public void collect(Set<String> columns) {
            condition.collect(columns);
        }
    }
}
