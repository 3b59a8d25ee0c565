package dev.stoker.connectors.files;

import java.io.Serializable;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * A pattern for paths below a directory: {@code *} and {@code ?} match within a name, {@code **} matches across
 * directories and {@code **}{@code /} also none, {@code [abc]} and {@code [!abc]} match one character of a name, and
 * {@code {a,b}} one of several texts. A backslash takes the next character as it is.
 */
public final class PathPattern implements Serializable {
    private static final long serialVersionUID = 1;

    private static final Pattern WILD = Pattern.compile("[*?\\[{]");

    private final String text;
    private final Pattern expression;

    private PathPattern(String text) {
        this.text = text;
        this.expression = Pattern.compile(new Translation(text).expression(), Pattern.DOTALL);
    }

    /**
     * Parses a pattern.
     *
     * @throws IllegalArgumentException if a bracket is not closed
     */
    public static PathPattern of(String text) {
        try {
            return new PathPattern(text);
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException("the pattern " + text + " is not valid: " + e.getDescription(), e);
        }
    }

    /** Returns the index of the first character with a meaning in patterns, or the length of the text. */
    public static int firstWild(String text) {
        var matcher = WILD.matcher(text);
        return matcher.find() ? matcher.start() : text.length();
    }

    /** Returns whether a path has this pattern. */
    public boolean matches(String path) {
        return expression.matcher(path).matches();
    }

    /** Returns whether the pattern is for paths with directories, and not for names alone. */
    boolean hasDirectory() {
        return text.indexOf('/') >= 0;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PathPattern pattern && pattern.text.equals(text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return text;
    }

    /** Translates a pattern to a regular expression. For one use. */
    private static final class Translation {
        private final String text;
        private final StringBuilder out = new StringBuilder();
        private int at;
        private int groups;

        Translation(String text) {
            this.text = text;
        }

        String expression() {
            while (at < text.length()) {
                char c = text.charAt(at++);
                switch (c) {
                    case '*' -> star();
                    case '?' -> out.append("[^/]");
                    case '[' -> characters();
                    case '{' -> {
                        groups++;
                        out.append("(?:");
                    }
                    case '}' -> out.append(groups-- > 0 ? ")" : "\\}");
                    case ',' -> out.append(groups > 0 ? "|" : ",");
                    case '\\' -> literal(at < text.length() ? text.charAt(at++) : '\\');
                    default -> literal(c);
                }
                groups = Math.max(0, groups);
            }
            if (groups > 0) {
                throw new PatternSyntaxException("a { is not closed", text, -1);
            }
            return out.toString();
        }

        private void star() {
            if (at == text.length() || text.charAt(at) != '*') {
                out.append("[^/]*");
                return;
            }
            at++;
            boolean isWholeName = at == 2 || text.charAt(at - 3) == '/';
            if (isWholeName && at < text.length() && text.charAt(at) == '/') {
                at++;
                out.append("(?:.*/)?");
            } else {
                out.append(".*");
            }
        }

        private void characters() {
            int end = text.indexOf(']', at + 1);
            if (end < 0) {
                throw new PatternSyntaxException("a [ is not closed", text, at);
            }
            String inside = text.substring(at, end);
            at = end + 1;
            boolean isNegated = inside.startsWith("!") || inside.startsWith("^");
            out.append("(?!/)[").append(isNegated ? "^" : "");
            for (char c : inside.substring(isNegated ? 1 : 0).toCharArray()) {
                out.append("\\[]^&".indexOf(c) >= 0 ? "\\" : "").append(c);
            }
            out.append(']');
        }

        private void literal(char c) {
            out.append("\\.^$|()[]{}+*?".indexOf(c) >= 0 ? "\\" : "").append(c);
        }
    }
}
