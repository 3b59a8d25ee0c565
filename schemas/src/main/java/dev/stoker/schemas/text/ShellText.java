package dev.stoker.schemas.text;

import java.util.Collection;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Writes texts of data into the commands that messages recommend. */
public final class ShellText {
    /** Brackets and the question mark are in types, such as {@code int8?[]}, which no file is called. */
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9._/@%+:=?\\[\\],…-]+");

    private static final Pattern CONTROL = Pattern.compile("\\p{Cc}");

    private ShellText() {}

    /** Returns a text as one word of a shell; one with control characters as a word of bash, zsh or ksh. */
    public static String word(String text) {
        if (PLAIN.matcher(text).matches() && !text.startsWith("=")) {
            return text;
        }
        if (!CONTROL.matcher(text).find()) {
            return "'" + text.replace("'", "'\\''") + "'";
        }
        String escaped = text.replace("\\", "\\\\").replace("'", "\\'");
        return "$'" + CONTROL.matcher(escaped).replaceAll(found -> code(found.group())) + "'";
    }

    private static String code(String character) {
        return Matcher.quoteReplacement(String.format("\\u%04x", (int) character.charAt(0)));
    }

    /** Returns an option that takes a pair, such as {@code --type 'my age=int8'}. */
    public static String pair(String option, String name, String value) {
        return option + " " + word(name + "=" + value);
    }

    /** Returns an option that takes a list of names, such as {@code --columns key,label}. */
    public static String names(String option, Collection<String> names) {
        return option + " " + word(NameList.of(names));
    }
}
