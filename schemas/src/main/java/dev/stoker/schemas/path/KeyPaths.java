package dev.stoker.schemas.path;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Turns keys into paths of files and back. Different keys have different paths, and a path never leaves its directory.
 * The parts of a key between slashes are the names of the directories and of the file. Most parts are their own name:
 *
 * <table>
 * <caption>Names</caption>
 * <tr><th>part of a key</th><th>name</th></tr>
 * <tr><td>{@code %}, {@code :}, {@code \}, a control character of ASCII, a space at the start or the end</td><td>{@code
 * %} and two hexadecimal digits for each of these characters</td></tr>
 * <tr><td>{@code .}, {@code ..}, a part that begins with {@code .tmp-}, and a first part {@code .stoker}, {@code
 * _SUCCESS} or {@code _EXPORTING}</td><td>the same for the first character</td></tr>
 * <tr><td>empty</td><td>{@code %}</td></tr>
 * <tr><td>a directory, if a sample has the key of its path</td><td>as above, with {@code %} at the end</td></tr>
 * <tr><td>a part whose name would be longer than {@link #MAX_BYTES}</td><td>several names: pieces, which are
 * directories and end with {@code %-}, and the rest</td></tr>
 * </table>
 *
 * <p>{@link DirectoryPaths} finds the directories beside samples. Stateless.
 */
public final class KeyPaths {

    /** Bytes of UTF-8 that a name has at most. */
    public static final int MAX_BYTES = 255;

    private static final int HEX = 16;

    private KeyPaths() {}

    /** Says what the last name of a path is. */
    public enum Kind {
        /** A sample, or a directory whose key no sample has. */
        PLAIN,
        /** A directory beside a sample of the same key. */
        BESIDE,
        /** A directory for the rest of long parts. */
        PIECE
    }

    /**
     * The text that a path stands for.
     *
     * @param text the key of a sample, or of a directory without the slash at its end; of a piece, the beginning of
     *     keys
     */
    public record Decoded(String text, Kind kind) {}

    /** Returns the path of a key if no sample has the key of one of its directories. */
    public static String of(String key) {
        List<String> names = new ArrayList<>();
        String[] parts = key.split("/", -1);
        for (int i = 0; i < parts.length; i++) {
            names.addAll(new KeyPart(parts[i], i == 0, false).names());
        }
        return String.join("/", names);
    }

    /** Returns the escaped form of an ASCII character. */
    public static String escape(char c) {
        return String.format(Locale.ROOT, "%%%02X", (int) c);
    }

    /**
     * Returns the text that a path stands for. The text may have another path: compare its path with the given one.
     *
     * @return empty if no key has the path
     */
    public static Optional<Decoded> decode(List<String> names) {
        StringBuilder text = new StringBuilder();
        Kind kind = Kind.PLAIN;
        for (int i = 0; i < names.size(); i++) {
            String name = names.get(i);
            if (i > 0 && kind != Kind.PIECE) {
                text.append('/');
            }
            kind = kind(name);
            String part = switch (kind) {
                case PLAIN -> name;
                case BESIDE -> name.substring(0, name.length() - KeyPart.BESIDE.length());
                case PIECE -> name.substring(0, name.length() - KeyPart.CONTINUED.length());
            };
            if (!decode(part, text)) {
                return Optional.empty();
            }
        }
        return Optional.of(new Decoded(text.toString(), kind));
    }

    private static Kind kind(String name) {
        if (name.endsWith(KeyPart.CONTINUED)) {
            return Kind.PIECE;
        }
        return name.endsWith(KeyPart.BESIDE) && !name.equals(KeyPart.EMPTY) ? Kind.BESIDE : Kind.PLAIN;
    }

    /** Appends the part that a name stands for. Returns false if there is none. */
    private static boolean decode(String name, StringBuilder text) {
        if (name.equals(KeyPart.EMPTY)) {
            return true;
        }
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (KeyPart.isUnpaired(name, i)) {
                return false;
            }
            if (c == KeyPart.ESCAPE) {
                int high = i + 1 < name.length() ? Character.digit(name.charAt(i + 1), HEX) : -1;
                int low = i + 2 < name.length() ? Character.digit(name.charAt(i + 2), HEX) : -1;
                if (high < 0 || low < 0) {
                    return false;
                }
                c = (char) (HEX * high + low);
                i += KeyPart.ESCAPED_LENGTH - 1;
            }
            text.append(c);
        }
        return true;
    }

    /** Returns the key of the file with a path; empty if no key has this path. */
    public static Optional<String> keyOf(String path) {
        List<String> names = List.of(path.split("/", -1));
        return decode(names)
                .filter(decoded -> decoded.kind() == Kind.PLAIN)
                .map(Decoded::text)
                .filter(key -> marked(key, names).equals(names));
    }

    /** Returns the path of a key whose directories are beside samples where some names say so. */
    private static List<String> marked(String key, List<String> says) {
        List<String> names = new ArrayList<>();
        String[] parts = key.split("/", -1);
        for (int i = 0; i < parts.length; i++) {
            int last = names.size();
            while (last < says.size() && kind(says.get(last)) == Kind.PIECE) {
                last++;
            }
            boolean isBeside = last < says.size() && kind(says.get(last)) == Kind.BESIDE;
            names.addAll(new KeyPart(parts[i], i == 0, isBeside).names());
        }
        return names;
    }
}
