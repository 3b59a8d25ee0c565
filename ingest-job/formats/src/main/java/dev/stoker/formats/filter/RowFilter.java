package dev.stoker.formats.filter;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowValues;
import dev.stoker.schemas.condition.RowPredicate;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Evaluates a predicate on rows. Compares NaN as IEEE 754 does: it only differs. For one thread. */
public final class RowFilter {
    private final Node root;

    /**
     * @param selected the columns of the rows, in the order in which they were selected
     * @throws IllegalArgumentException if a column of the predicate is not selected, or its name is not unique
     */
    public RowFilter(RowPredicate predicate, List<RowColumn> selected) {
        root = node(predicate, selected);
    }

    /** Returns the names of the columns that a predicate needs. */
    public static Set<String> columns(RowPredicate predicate) {
        Set<String> names = new LinkedHashSet<>();
        collect(predicate, names);
        return names;
    }

    private static void collect(RowPredicate predicate, Set<String> names) {
        if (predicate instanceof RowPredicate.Comparison comparison) {
            names.add(comparison.column());
        } else if (predicate instanceof RowPredicate.IsNull isNull) {
            names.add(isNull.column());
        } else if (predicate instanceof RowPredicate.And and) {
            and.all().forEach(part -> collect(part, names));
        } else if (predicate instanceof RowPredicate.Or or) {
            or.any().forEach(part -> collect(part, names));
        } else if (predicate instanceof RowPredicate.Not not) {
            collect(not.predicate(), names);
        }
    }

    /**
     * Returns whether the predicate is true for the row.
     *
     * @throws BadValueException if the value of a column cannot be given
     */
    public boolean matches(RowValues row) throws IOException, BadValueException {
        return root.test(row) == Truth.TRUE;
    }

    private enum Truth {
        FALSE,
        UNKNOWN,
        TRUE;

        static Truth of(boolean value) {
            return value ? TRUE : FALSE;
        }
    }

    private interface Node {
        Truth test(RowValues row) throws IOException, BadValueException;
    }

    private static Node node(RowPredicate predicate, List<RowColumn> selected) {
        if (predicate instanceof RowPredicate.Comparison comparison) {
            return comparison(comparison, index(comparison.column(), selected));
        }
        if (predicate instanceof RowPredicate.IsNull isNull) {
            int column = index(isNull.column(), selected);
            LiteralComparison value = new LiteralComparison(null);
            return row -> {
                row.get(column, value);
                return Truth.of(value.result() == LiteralComparison.Result.NULL);
            };
        }
        if (predicate instanceof RowPredicate.Not not) {
            Node node = node(not.predicate(), selected);
            return row -> switch (node.test(row)) {
                case TRUE -> Truth.FALSE;
                case FALSE -> Truth.TRUE;
                case UNKNOWN -> Truth.UNKNOWN;
            };
        }
        if (predicate instanceof RowPredicate.And and) {
            return all(and.all(), selected, Truth.FALSE, Truth.TRUE);
        }
        return all(((RowPredicate.Or) predicate).any(), selected, Truth.TRUE, Truth.FALSE);
    }

    /** Returns a node that ends with the first decisive part. */
    private static Node all(List<RowPredicate> parts, List<RowColumn> selected, Truth decisive, Truth otherwise) {
        List<Node> nodes = new ArrayList<>();
        parts.forEach(part -> nodes.add(node(part, selected)));
        return row -> {
            Truth result = otherwise;
            for (Node node : nodes) {
                Truth truth = node.test(row);
                if (truth == decisive) {
                    return decisive;
                }
                if (truth == Truth.UNKNOWN) {
                    result = Truth.UNKNOWN;
                }
            }
            return result;
        };
    }

    private static Node comparison(RowPredicate.Comparison comparison, int column) {
        LiteralComparison value = new LiteralComparison(comparison.literal());
        RowPredicate.Operator operator = comparison.operator();
        return row -> {
            row.get(column, value);
            return switch (value.result()) {
                case NULL -> Truth.UNKNOWN;
                case NAN -> Truth.of(operator == RowPredicate.Operator.NOT_EQUAL);
                case LESS -> Truth.of(operator.accepts(-1));
                case EQUAL -> Truth.of(operator.accepts(0));
                case GREATER -> Truth.of(operator.accepts(1));
            };
        };
    }

    private static int index(String column, List<RowColumn> selected) {
        int found = -1;
        for (int i = 0; i < selected.size(); i++) {
            if (selected.get(i).name().equals(column)) {
                if (found >= 0) {
                    throw new IllegalArgumentException("there are two columns '" + column + "'");
                }
                found = i;
            }
        }
        if (found < 0) {
            throw new IllegalArgumentException("there is no column '" + column + "'");
        }
        return found;
    }
}
