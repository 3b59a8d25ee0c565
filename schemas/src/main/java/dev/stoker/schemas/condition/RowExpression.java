package dev.stoker.schemas.condition;

import dev.stoker.schemas.arrow.types.FieldType;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A condition on rows in the words of SQL's {@code WHERE}: comparisons, {@code IN}, {@code BETWEEN}, {@code IS NULL},
 * {@code AND}, {@code OR}, {@code NOT} and brackets. Keywords can have any case; names of columns have the case of the
 * source, and need double quotes if they are keywords or have other characters than letters, digits, {@code _} and
 * dots. Immutable.
 */
public final class RowExpression {
    private final String text;
    private final Condition condition;

    private RowExpression(String text, Condition condition) {
        this.text = text;
        this.condition = condition;
    }

    /**
     * Parses an expression.
     *
     * @throws InvalidExpressionException if it is wrong; names the character
     */
    public static RowExpression parse(String text) {
        return new RowExpression(text, new ExpressionParser(text).parse());
    }

    /** Returns a column as expressions name it: with double quotes if it needs them. */
    public static String column(String name) {
        try {
            if (parse(name + " IS NULL").columns().equals(Set.of(name))) {
                return name;
            }
        } catch (InvalidExpressionException e) {
            return quoted(name);
        }
        return quoted(name);
    }

    private static String quoted(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    /** Returns the names of the columns, in the order of the expression. */
    public Set<String> columns() {
        Set<String> columns = new LinkedHashSet<>();
        condition.collect(columns);
        return Collections.unmodifiableSet(columns);
    }

    /**
     * Gives the values of the expression the types of the columns.
     *
     * @param types the types of the columns, by name
     * @throws IllegalArgumentException with a clause that names the column and its type, if there is no such column, or
     *     its values cannot be compared with the value
     */
    public RowPredicate bind(Map<String, FieldType> types) {
        return new Binding(types).bind(condition);
    }

    /** Returns the canonical text: see "Canonical text" in docs/formats/where.md. */
    public String canonical() {
        return CanonicalText.of(condition);
    }

    /**
     * Returns the parts of which all must be true: several for an {@code AND}, otherwise the expression itself. Their
     * texts are canonical.
     */
    public List<RowExpression> parts() {
        return CanonicalText.parts(condition).stream()
                .map(part -> new RowExpression(CanonicalText.of(part), part))
                .toList();
    }

    /** Returns the text of the expression. */
    @Override
    public String toString() {
        return text;
    }
}
