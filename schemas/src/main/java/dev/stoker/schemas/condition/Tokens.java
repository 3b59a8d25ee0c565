package dev.stoker.schemas.condition;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Divides an expression into words. */
final class Tokens {
    private static final Set<String> KEYWORDS = Set.of(
            "AND", "OR", "NOT", "IN", "IS", "NULL", "TRUE", "FALSE", "BETWEEN", "LIKE", "DATE", "TIME", "TIMESTAMP");

    /** The keywords that are a name unless text follows them, because tables have columns with these names. */
    private static final Set<String> TYPES = Set.of("DATE", "TIME", "TIMESTAMP");

    private static final Pattern NUMBER =
            Pattern.compile("[0-9]+(\\.[0-9]*)?([eE][+-]?[0-9]+)?" + "|\\.[0-9]+([eE][+-]?[0-9]+)?");

    /** A name, also of a column of a struct, such as {@code box.x}. */
    private static final Pattern NAME =
            Pattern.compile("[\\p{L}_][\\p{L}\\p{M}\\p{N}_]*(\\.[\\p{L}\\p{N}_][\\p{L}\\p{M}\\p{N}_]*)*");

    private static final Pattern SYMBOL = Pattern.compile("<=|>=|<>|!=|==|[=<>(),+-]");
    private static final Pattern TEXT = Pattern.compile("'([^']*+(?:''[^']*+)*+)'");
    private static final Pattern QUOTED = Pattern.compile("\"((?!\"(?!\"))[^\"]*+(?:\"\"[^\"]*+)*+)\"");

    private final String source;
    private final List<Token> tokens = new ArrayList<>();
    private int at;

    private Tokens(String source) {
        this.source = source;
    }

    /**
     * Divides an expression. The last word is an {@link Token.Kind#END}.
     *
     * @throws InvalidExpressionException for characters that are no word
     */
    static List<Token> of(String source) {
        Tokens tokens = new Tokens(source);
        while (tokens.next()) {
            // Each call adds one word.
        }
        return tokens.tokens;
    }

    private boolean next() {
        while (at < source.length() && Character.isWhitespace(source.charAt(at))) {
            at++;
        }
        if (at == source.length()) {
            add(Token.Kind.END, "", at);
            return false;
        }
        char first = source.charAt(at);
        if (first == '\'') {
            add(Token.Kind.TEXT, quoted(TEXT, "'"), at);
        } else if (first == '"') {
            add(Token.Kind.COLUMN, quoted(QUOTED, "\""), at);
        } else if (!matched(NUMBER, Token.Kind.NUMBER)
                && !matched(NAME, Token.Kind.COLUMN)
                && !matched(SYMBOL, Token.Kind.SYMBOL)) {
            throw new InvalidExpressionException(
                    source, at, "the character " + Character.toString(source.codePointAt(at)) + " has no meaning here");
        }
        return true;
    }

    /** Adds a word, and moves behind it. */
    private void add(Token.Kind kind, String text, int end) {
        int begin = tokens.isEmpty() ? 0 : tokens.get(tokens.size() - 1).end();
        while (begin < source.length() && Character.isWhitespace(source.charAt(begin))) {
            begin++;
        }
        tokens.add(new Token(kind, text, begin, end));
    }

    private String quoted(Pattern pattern, String quote) {
        Matcher matcher = pattern.matcher(source).region(at, source.length());
        if (!matcher.lookingAt()) {
            throw new InvalidExpressionException(
                    source, at, "there is no closing " + quote + ", or nothing inside the quotes");
        }
        at = matcher.end();
        return matcher.group(1).replace(quote + quote, quote);
    }

    private boolean matched(Pattern pattern, Token.Kind kind) {
        Matcher matcher = pattern.matcher(source).region(at, source.length());
        if (!matcher.lookingAt()) {
            return false;
        }
        int begin = at;
        at = matcher.end();
        String upper = matcher.group().toUpperCase(Locale.ROOT);
        boolean isKeyword = kind == Token.Kind.COLUMN && KEYWORDS.contains(upper);
        if (isKeyword && TYPES.contains(upper)) {
            isKeyword = source.substring(at).stripLeading().startsWith("'");
        }
        if (kind == Token.Kind.NUMBER && at < source.length() && Character.isLetterOrDigit(source.charAt(at))) {
            throw new InvalidExpressionException(source, begin, "a name that begins with a digit needs double quotes");
        }
        add(isKeyword ? Token.Kind.KEYWORD : kind, isKeyword ? upper : matcher.group(), at);
        return true;
    }
}
