package dev.stoker.schemas.condition;

import dev.stoker.schemas.condition.RowPredicate.Operator;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Parses an expression by recursive descent. For one use.
 *
 * <pre>
 * or        = and {OR and}
 * and       = not {AND not}
 * not       = NOT not | "(" or ")" | predicate
 * predicate = column comparison value | value comparison column | column
 *           | column IS [NOT] NULL | column [NOT] IN "(" value {"," value} ")"
 *           | column [NOT] BETWEEN value AND value
 * value     = number | 'text' | TRUE | FALSE | DATE 'text' | TIME 'text' | TIMESTAMP 'text'
 * </pre>
 */
final class ExpressionParser {
    /** Nested brackets, NOTs, INs and BETWEENs, so that a hostile expression does not overflow the stack. */
    private static final int MAX_DEPTH = 200;

    private static final Map<String, Operator> OPERATORS = Map.of(
            "=", Operator.EQUAL,
            "<>", Operator.NOT_EQUAL,
            "!=", Operator.NOT_EQUAL,
            "<", Operator.LESS,
            "<=", Operator.LESS_OR_EQUAL,
            ">", Operator.GREATER,
            ">=", Operator.GREATER_OR_EQUAL);

    private final String source;
    private final List<Token> tokens;
    private int next;
    private int depth;

    ExpressionParser(String source) {
        this.source = source;
        this.tokens = Tokens.of(source);
    }

    Condition parse() {
        Condition condition = or();
        if (peek().kind() != Token.Kind.END) {
            throw wrong(peek(), "expected AND, OR or the end");
        }
        return condition;
    }

    private Condition or() {
        List<Condition> any = new ArrayList<>(List.of(and()));
        while (accept("OR")) {
            any.add(and());
        }
        return any.size() == 1 ? any.get(0) : new Condition.Or(any);
    }

    private Condition and() {
        List<Condition> all = new ArrayList<>(List.of(not()));
        while (accept("AND")) {
            all.add(not());
        }
        return all.size() == 1 ? all.get(0) : new Condition.And(all);
    }

    private Condition not() {
        checkDepth(++depth);
        try {
            if (accept("NOT")) {
                // With brackets behind it one level, so that the canonical text nests no deeper.
                return new Condition.Not(acceptSymbol("(") ? bracketed() : not());
            }
            return acceptSymbol("(") ? bracketed() : predicate();
        } finally {
            depth--;
        }
    }

    private Condition bracketed() {
        Condition inner = or();
        expectSymbol(")");
        return inner;
    }

    private void checkDepth(int levels) {
        if (levels > MAX_DEPTH) {
            throw wrong(peek(), "the expression is nested deeper than " + MAX_DEPTH + " levels");
        }
    }

    private Condition predicate() {
        Token first = peek();
        if (first.kind() != Token.Kind.COLUMN) {
            ExpressionValue value = value("a column or a value");
            Operator operator = operator();
            return new Condition.Comparison(column(), flipped(operator), value);
        }
        String column = column();
        if (accept("IS")) {
            boolean isNot = accept("NOT");
            expect("NULL");
            return negatedIf(isNot, new Condition.IsNull(column));
        }
        boolean isNot = accept("NOT");
        if (peek().is(Token.Kind.KEYWORD, "IN") || peek().is(Token.Kind.KEYWORD, "BETWEEN")) {
            checkDepth(depth + 1);
        }
        if (accept("IN")) {
            return negatedIf(isNot, in(column));
        }
        if (accept("BETWEEN")) {
            ExpressionValue low = value("a value");
            expect("AND");
            ExpressionValue high = value("a value");
            return negatedIf(
                    isNot,
                    new Condition.And(List.of(
                            new Condition.Comparison(column, Operator.GREATER_OR_EQUAL, low),
                            new Condition.Comparison(column, Operator.LESS_OR_EQUAL, high))));
        }
        if (peek().is(Token.Kind.KEYWORD, "LIKE")) {
            throw wrong(peek(), "LIKE is not supported; compare with =, IN, or a range such as >= 'a' AND < 'b'");
        }
        if (isNot) {
            throw wrong(peek(), "expected IN or BETWEEN after NOT");
        }
        if (peek().kind() == Token.Kind.SYMBOL && !peek().text().equals(")")) {
            return new Condition.Comparison(column, operator(), value("a value"));
        }
        return new Condition.Flag(column);
    }

    private Condition in(String column) {
        expectSymbol("(");
        List<Condition> any = new ArrayList<>();
        do {
            any.add(new Condition.Comparison(column, Operator.EQUAL, value("a value")));
        } while (acceptSymbol(","));
        expectSymbol(")");
        return any.size() == 1 ? any.get(0) : new Condition.Or(any);
    }

    private static Condition negatedIf(boolean isNot, Condition condition) {
        return isNot ? new Condition.Not(condition) : condition;
    }

    private String column() {
        Token token = peek();
        if (token.kind() != Token.Kind.COLUMN) {
            throw wrong(token, "expected the name of a column");
        }
        next++;
        return token.text();
    }

    private Operator operator() {
        Token token = peek();
        Operator operator = token.kind() == Token.Kind.SYMBOL ? OPERATORS.get(token.text()) : null;
        if (token.is(Token.Kind.SYMBOL, "==")) {
            throw wrong(token, "SQL compares with a single =");
        }
        if (operator == null) {
            throw wrong(token, "expected one of = != <> < <= > >=");
        }
        next++;
        return operator;
    }

    private static Operator flipped(Operator operator) {
        return switch (operator) {
            case EQUAL, NOT_EQUAL -> operator;
            case LESS -> Operator.GREATER;
            case LESS_OR_EQUAL -> Operator.GREATER_OR_EQUAL;
            case GREATER -> Operator.LESS;
            case GREATER_OR_EQUAL -> Operator.LESS_OR_EQUAL;
        };
    }

    private ExpressionValue value(String expected) {
        Token token = tokens.get(next);
        if (token.kind() == Token.Kind.END) {
            throw wrong(token, "expected " + expected);
        }
        next++;
        return switch (token.kind()) {
            case NUMBER -> number(token, "");
            case TEXT -> new ExpressionValue(ExpressionValue.Kind.TEXT, token.text());
            case KEYWORD -> keyword(token, expected);
            case SYMBOL -> signed(token, expected);
            default ->
                throw wrong(
                        token,
                        token.text() + " is the name of a column, and only values can be here; write text as '"
                                + token.text() + "'");
        };
    }

    private ExpressionValue keyword(Token token, String expected) {
        return switch (token.text()) {
            case "TRUE", "FALSE" -> new ExpressionValue(ExpressionValue.Kind.BOOL, token.text());
            case "DATE", "TIME", "TIMESTAMP" ->
                // The tokenizer made it a keyword because text follows.
                new ExpressionValue(
                        ExpressionValue.Kind.valueOf(token.text()),
                        tokens.get(next++).text());
            case "NULL" -> throw wrong(token, "a comparison with NULL is never true; use IS NULL or IS NOT NULL");
            default -> throw wrong(token, "expected " + expected);
        };
    }

    private ExpressionValue signed(Token sign, String expected) {
        boolean isSign = sign.text().equals("-") || sign.text().equals("+");
        if (!isSign || peek().kind() != Token.Kind.NUMBER) {
            throw wrong(sign, "expected " + expected);
        }
        return number(tokens.get(next++), sign.text().equals("-") ? "-" : "");
    }

    private ExpressionValue number(Token number, String sign) {
        if (CanonicalText.number(number.text()).isEmpty()) {
            throw wrong(
                    number,
                    "the number has more than " + CanonicalText.MAX_NUMBER + " characters, or its exponent is beyond "
                            + CanonicalText.MAX_EXPONENT);
        }
        return new ExpressionValue(ExpressionValue.Kind.NUMBER, sign + number.text());
    }

    private Token peek() {
        return tokens.get(next);
    }

    private boolean accept(String keyword) {
        return accept(Token.Kind.KEYWORD, keyword);
    }

    private boolean acceptSymbol(String symbol) {
        return accept(Token.Kind.SYMBOL, symbol);
    }

    private boolean accept(Token.Kind kind, String text) {
        boolean isIt = peek().is(kind, text);
        next += isIt ? 1 : 0;
        return isIt;
    }

    private void expect(String keyword) {
        if (!accept(keyword)) {
            throw wrong(peek(), "expected " + keyword);
        }
    }

    private void expectSymbol(String symbol) {
        if (!acceptSymbol(symbol)) {
            throw wrong(peek(), "expected " + symbol);
        }
    }

    private InvalidExpressionException wrong(Token token, String problem) {
        return new InvalidExpressionException(source, token.at(), problem);
    }
}
