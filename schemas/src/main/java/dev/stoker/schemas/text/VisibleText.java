package dev.stoker.schemas.text;

import java.util.Locale;

/** Text of data in messages. A terminal interprets some characters, so these are shown as escapes. */
public final class VisibleText {
    private VisibleText() {}

    /** Returns a text in which control characters are escapes, except for line breaks and tabs. */
    public static String of(String text) {
        if (text.codePoints().noneMatch(VisibleText::isInvisible)) {
            return text;
        }
        StringBuilder visible = new StringBuilder();
        text.codePoints().forEach(c -> {
            if (isInvisible(c)) {
                visible.append(String.format(Locale.ROOT, c > 0xFFFF ? "\\U%08x" : "\\u%04x", c));
            } else {
                visible.appendCodePoint(c);
            }
        });
        return visible.toString();
    }

    private static boolean isInvisible(int c) {
        // Emoji of several characters are joined by this one.
        boolean isJoiner = c == 0x200D;
        return (Character.isISOControl(c) && c != '\n' && c != '\t')
                || (Character.getType(c) == Character.FORMAT && !isJoiner);
    }
}
