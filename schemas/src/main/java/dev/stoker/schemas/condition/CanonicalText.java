package dev.stoker.schemas.condition;

import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Writes the canonical text of conditions: see docs/formats/where.md. */
final class CanonicalText {
    static final int MAX_NUMBER = 400;
    static final int MAX_EXPONENT = 1000;
    /** The greatest exponent of a number that is written in full. */
    private static final int MAX_PLAIN = 20;

    private CanonicalText() {}

    static String of(Condition condition) {
        if (condition instanceof Condition.Comparison comparison) {
            return RowExpression.column(comparison.column()) + " "
                    + comparison.operator().text() + " " + value(comparison.value());
        }
        if (condition instanceof Condition.IsNull isNull) {
            return RowExpression.column(isNull.column()) + " IS NULL";
        }
        if (condition instanceof Condition.Flag flag) {
            return RowExpression.column(flag.column()) + " = TRUE";
        }
        if (condition instanceof Condition.Not not) {
            return "NOT (" + of(not.condition()) + ")";
        }
        return condition instanceof Condition.And
                ? joined(parts(condition), " AND ")
                : joined(alternatives(condition).toList(), " OR ");
    }

    /** Returns the parts of a condition of which all must be true, without parts that are such conditions. */
    static List<Condition> parts(Condition condition) {
        return flat(condition).toList();
    }

    private static Stream<Condition> flat(Condition condition) {
        return condition instanceof Condition.And and
                ? and.all().stream().flatMap(CanonicalText::flat)
                : Stream.of(condition);
    }

    private static Stream<Condition> alternatives(Condition condition) {
        return condition instanceof Condition.Or or
                ? or.any().stream().flatMap(CanonicalText::alternatives)
                : Stream.of(condition);
    }

    private static String joined(List<Condition> parts, String word) {
        return parts.stream()
                .map(part ->
                        part instanceof Condition.And || part instanceof Condition.Or ? "(" + of(part) + ")" : of(part))
                .collect(Collectors.joining(word));
    }

    private static String value(ExpressionValue value) {
        return switch (value.kind()) {
            case NUMBER -> number(value.text()).orElseThrow();
            case BOOL -> value.text();
            default -> "'" + value.text().replace("'", "''") + "'";
        };
    }

    /** Returns the canonical text of a number; empty if it has too many characters or too large an exponent. */
    static Optional<String> number(String text) {
        if (text.length() <= MAX_NUMBER) {
            try {
                BigDecimal stripped = new BigDecimal(text).stripTrailingZeros();
                if (stripped.signum() == 0) {
                    return Optional.of("0");
                }
                if (Math.abs(stripped.scale()) <= MAX_PLAIN) {
                    return Optional.of(stripped.toPlainString());
                }
                if (Math.abs(stripped.scale()) <= MAX_EXPONENT) {
                    return Optional.of(stripped.unscaledValue() + "E" + -stripped.scale());
                }
            } catch (NumberFormatException e) {
                // The exponent has more than 32 bits.
            }
        }
        return Optional.empty();
    }
}
