package dev.stoker.schemas.text;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Lists of names, as options take them: with commas between the names. A name with a comma, with spaces around it, or
 * without a character, has double quotes; a double quote in it is doubled.
 */
public final class NameList {
    private static final Pattern NAME =
            Pattern.compile("\\s*\"(?<quoted>(?:[^\"]|\"\")*)\"\\s*(?=,|$)|(?<plain>[^,]*)");

    private NameList() {}

    /** Returns the names of several lists. */
    public static List<String> parse(Collection<String> texts) {
        List<String> names = new ArrayList<>();
        for (String text : texts) {
            Matcher name = NAME.matcher(text);
            while (name.lookingAt()) {
                String quoted = name.group("quoted");
                String plain = quoted == null ? name.group("plain").strip() : quoted.replace("\"\"", "\"");
                if (quoted != null || !plain.isEmpty()) {
                    names.add(plain);
                }
                if (name.end() == text.length()) {
                    break;
                }
                name.region(name.end() + 1, text.length());
            }
        }
        return names;
    }

    /** Returns the text of a list. */
    public static String of(Collection<String> names) {
        return names.stream().map(NameList::item).collect(Collectors.joining(","));
    }

    private static String item(String name) {
        boolean isPlain =
                !name.isEmpty() && name.equals(name.strip()) && name.chars().noneMatch(c -> c == ',' || c == '"');
        return isPlain ? name : "\"" + name.replace("\"", "\"\"") + "\"";
    }
}
