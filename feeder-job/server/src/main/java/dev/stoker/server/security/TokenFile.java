package dev.stoker.server.security;

import dev.stoker.transport.RegularFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Reads a token file: one token a line, and behind it what the token is limited to. Errors name file and line, never a
 * token.
 *
 * <pre>
 * # comment
 * TOKEN [streams=NAME,…] [groups=NAME,…] [rights=read|acknowledge|administer,…]
 * </pre>
 */
final class TokenFile {
    private static final int MAX_BYTES = 1 << 20;
    private static final int MAX_CHARACTERS = 4096;
    private static final String ADVICE = ": fill it, as in openssl rand -hex 32 > ";

    private final Path file;
    private final List<Entry> entries = new ArrayList<>();
    /** Lines by digest. */
    private final Map<String, Integer> lines = new HashMap<>();

    /** A token's digest and what it allows. */
    record Entry(byte[] digest, FeedToken.Rights rights) {}

    private TokenFile(Path file) {
        this.file = file;
    }

    /**
     * The tokens of a file, at least one.
     *
     * @throws AccessException if the file cannot be read or is malformed
     */
    static List<Entry> read(Path file) throws AccessException {
        String text;
        try {
            byte[] bytes = RegularFile.read(file, MAX_BYTES);
            text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (IOException e) {
            String advice = "; to make one: openssl rand -hex 32 > " + file;
            throw AccessException.unreadable("token file", file, e, advice);
        }
        return new TokenFile(file).parse(text);
    }

    private List<Entry> parse(String text) throws AccessException {
        List<String> all = text.lines().toList();
        for (int i = 0; i < all.size(); i++) {
            String line = all.get(i).strip();
            if (!line.isEmpty() && !line.startsWith("#")) {
                add(i + 1, line.split("\\s+"));
            }
        }
        if (entries.isEmpty()) {
            throw new AccessException("token file " + file + " has no token" + ADVICE + file);
        }
        return entries;
    }

    private void add(int line, String[] words) throws AccessException {
        if (words[0].length() > MAX_CHARACTERS || words[0].chars().anyMatch(Character::isISOControl)) {
            throw bad(line, "the token has more than " + MAX_CHARACTERS + " characters or control characters");
        }
        List<String> streams = List.of();
        List<String> groups = List.of();
        Right right = Right.ADMINISTER;
        List<String> seen = new ArrayList<>();
        for (int i = 1; i < words.length; i++) {
            int equals = words[i].indexOf('=');
            String key = equals < 0 ? "" : words[i].substring(0, equals);
            if (seen.contains(key)) {
                throw bad(line, key + "= is given twice");
            }
            seen.add(key);
            List<String> values = Arrays.asList(words[i].substring(equals + 1).split(",", -1));
            if (!key.isEmpty() && values.contains("")) {
                throw bad(line, key + "= has an empty name");
            }
            switch (key) {
                case "streams" -> streams = values;
                case "groups" -> groups = values;
                case "rights" -> right = right(line, values);
                // The word itself could be a part of a token.
                default ->
                    throw bad(
                            line,
                            "word " + (i + 1)
                                    + " is not one of streams=…, groups=…, rights=…; a token cannot contain"
                                    + " white space");
            }
        }
        byte[] digest = FeedToken.digest(words[0]);
        Integer before = lines.putIfAbsent(Arrays.toString(digest), line);
        if (before != null) {
            throw bad(line, "the token is already in line " + before + "; give each line a different token");
        }
        entries.add(new Entry(digest, new FeedToken.Rights(streams, groups, right)));
    }

    private Right right(int line, List<String> names) throws AccessException {
        Right greatest = Right.READ;
        for (String name : names) {
            Right found = Arrays.stream(Right.values())
                    .filter(right -> right.name().toLowerCase(Locale.ROOT).equals(name))
                    .findFirst()
                    .orElseThrow(() -> bad(line, "rights= takes read, acknowledge and administer"));
            greatest = found.compareTo(greatest) > 0 ? found : greatest;
        }
        return greatest;
    }

    private AccessException bad(int line, String why) {
        return new AccessException("token file " + file + ", line " + line + ": " + why);
    }
}
