package dev.stoker.schemas.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The texts of a Java source that a command can print as messages: its literals, without comments and without the help
 * in annotations of picocli. Literals that the source joins with {@code +} are one text.
 */
final class SourceTexts {
    private static final Pattern TOKEN = Pattern.compile("(?<comment>//[^\n]*|/\\*(?s:.*?)\\*/)"
            + "|(?<block>\"\"\"(?s:.*?)\"\"\")"
            + "|\"(?<text>(?:[^\"\\\\\n]|\\\\.)*)\""
            + "|'(?:[^'\\\\\n]|\\\\.)+'"
            + "|(?<help>@(?:CommandLine\\.)?(?:Command|Option|Parameters|ArgGroup)\\s*\\()"
            + "|(?<other>\\S)");

    private final List<String> texts = new ArrayList<>();
    /** Whether the last token is a literal. */
    private boolean isText;
    /** Whether the last tokens are a literal and a plus, so that a literal continues the last text. */
    private boolean isJoined;
    /** The open parentheses of an annotation with help; 0 outside of one. */
    private int help;

    private SourceTexts() {}

    static List<String> of(String source) {
        SourceTexts all = new SourceTexts();
        Matcher token = TOKEN.matcher(source);
        while (token.find()) {
            all.add(token);
        }
        return all.texts;
    }

    private void add(Matcher token) {
        if (token.group("comment") != null) {
            return;
        }
        if (token.group("help") != null) {
            help = 1;
        } else if (help > 0) {
            help += "(".equals(token.group("other")) ? 1 : ")".equals(token.group("other")) ? -1 : 0;
        } else if (token.group("text") != null) {
            literal(token.group("text"));
            return;
        } else if (token.group("block") != null) {
            literal(token.group("block"));
            return;
        } else if ("+".equals(token.group("other")) && isText) {
            isJoined = true;
            isText = false;
            return;
        }
        isText = false;
        isJoined = false;
    }

    private void literal(String text) {
        if (isJoined) {
            int last = texts.size() - 1;
            texts.set(last, texts.get(last) + text);
        } else {
            texts.add(text);
        }
        isText = true;
        isJoined = false;
    }
}
