package dev.stoker.schemas.json;

/** Writes JSON whose bytes are part of a hash. */
public final class CanonicalJson {
    private static final String SHORT = "\b\t\n\f\r";
    private static final String LETTERS = "btnfr";

    private CanonicalJson() {}

    /** Returns a string in which only quotes, backslashes and control characters below U+0020 are escaped. */
    public static String text(String text) {
        StringBuilder out = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            int at = SHORT.indexOf(c);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (at >= 0) {
                out.append('\\').append(LETTERS.charAt(at));
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }
}
