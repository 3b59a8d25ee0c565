package dev.stoker.schemas.text;

import java.util.regex.Pattern;

/** Writes texts of data into the commands that messages recommend. */
public final class ShellText {
    /** Brackets and the question mark are in types, such as {@code int8?[]}, which no file is called. */
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9._/@%+:=?\\[\\]…-]+");

    private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

    private ShellText() {}

    /** Returns a text as one word of a shell. */
    public static String word(String text) {
        if (PLAIN.matcher(text).matches() && !text.startsWith("=")) {
            return text;
        }
        return "'" + CONTROL.matcher(text).replaceAll("?").replace("'", "'\\''") + "'";
    }

    /** Returns an option that takes a pair, such as {@code --type 'my age=int8'}. */
    public static String pair(String option, String name, String value) {
        return option + " " + word(name + "=" + value);
    }
}
