package dev.stoker.schemas.condition;

/**
 * A value in an expression.
 *
 * @param kind the way in which it is written
 * @param text without quotes
 */
record ExpressionValue(Kind kind, String text) {
    /** The ways in which values are written. */
    enum Kind {
        NUMBER("a number"),
        TEXT("text"),
        BOOL("TRUE or FALSE"),
        DATE("a date"),
        TIME("a time"),
        TIMESTAMP("a timestamp");

        private final String shown;

        Kind(String shown) {
            this.shown = shown;
        }

        @Override
        public String toString() {
            return shown;
        }
    }

    /** Returns the value as it is written in an expression. */
    String shown() {
        return kind == Kind.NUMBER || kind == Kind.BOOL ? text : "'" + text + "'";
    }
}
