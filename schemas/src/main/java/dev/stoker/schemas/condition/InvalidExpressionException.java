package dev.stoker.schemas.condition;

/** Thrown when an expression cannot be parsed. */
public final class InvalidExpressionException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private static final int SHOWN = 30;

    /**
     * @param source the whole expression
     * @param at index of the character at which it is wrong
     * @param problem the problem as a clause
     */
    InvalidExpressionException(String source, int at, String problem) {
        super(problem + ", at character " + (at + 1) + (at < source.length() ? ": " + rest(source, at) : ", the end"));
    }

    private static String rest(String source, int at) {
        return at + SHOWN < source.length() ? source.substring(at, at + SHOWN) + "…" : source.substring(at);
    }
}
