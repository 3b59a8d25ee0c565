package dev.stoker.schemas.condition;

/**
 * A word of an expression.
 *
 * @param kind of the word
 * @param text without quotes; keywords and symbols in upper case
 * @param at index of its first character
 * @param end index behind its last character
 */
record Token(Kind kind, String text, int at, int end) {
    /** The kinds of words. */
    enum Kind {
        /** A name without quotes that is no keyword, or with double quotes. */
        COLUMN,
        KEYWORD,
        NUMBER,
        /** Text in single quotes. */
        TEXT,
        /** A comparison, a bracket or a comma. */
        SYMBOL,
        END
    }

    boolean is(Kind wanted, String wantedText) {
        return kind == wanted && text.equals(wantedText);
    }
}
