package dev.stoker.hadoop;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Converts keys to paths of Hadoop and back. A key is any text; a path has no empty part, no {@code .} and {@code ..},
 * and some programs do not accept a colon in it. Each part of a key becomes one part of the path. Each key has one path
 * and each path at most one key. Stateless.
 *
 * <table>
 * <caption>Parts of a path</caption>
 * <tr><th>part of the key</th><th>part of the path</th></tr>
 * <tr><td>without the characters below</td><td>the same text</td></tr>
 * <tr><td>{@code %}, {@code :}, {@code \}, a control character of ASCII, a space at the start or the end, and the dots
 * of {@code .} and {@code ..}</td><td>{@code %} and two hexadecimal digits for each of these characters</td></tr>
 * <tr><td>empty</td><td>{@code %}</td></tr>
 * <tr><td>the last part of a key that is also a directory</td><td>as above, with {@code %} after it</td></tr>
 * </table>
 */
final class SamplePaths {

    static final char ESCAPE = '%';

    private static final String EMPTY = "%";
    private static final int ESCAPED_LENGTH = 3;
    private static final int HEX = 16;

    private SamplePaths() {}

    /** Returns the path of a key below the root, with a slash at its start. */
    static String ofKey(String key) {
        StringBuilder path = new StringBuilder(key.length() + 1);
        for (String part : key.split("/", -1)) {
            path.append('/').append(encode(part));
        }
        return path.toString();
    }

    /** Returns the path of a key that is also a directory. */
    static String ofKeyBesideDirectory(String key) {
        return ofKey(key) + ESCAPE;
    }

    /** Returns the path of the directory with all keys that begin with a prefix, which ends with a slash. */
    static String ofPrefix(String prefix) {
        return ofKey(prefix.substring(0, prefix.length() - 1));
    }

    /**
     * The meaning of a path other than the root.
     *
     * @param key the key, or the prefix of a directory without the slash at its end
     * @param isBesideDirectory whether the path can only be a key that is also a directory
     */
    record Meaning(String key, boolean isBesideDirectory) {}

    /** Returns the meaning of a path with a slash at its start; null if it is the path of no key and no directory. */
    static @Nullable Meaning parse(String path) {
        List<String> parts = new ArrayList<>(List.of(path.substring(1).split("/", -1)));
        int last = parts.size() - 1;
        boolean isBeside = decode(parts.get(last)) == null && parts.get(last).endsWith(EMPTY);
        if (isBeside) {
            parts.set(last, parts.get(last).substring(0, parts.get(last).length() - 1));
        }
        List<String> key = new ArrayList<>();
        for (String part : parts) {
            String decoded = decode(part);
            if (decoded == null) {
                return null;
            }
            key.add(decoded);
        }
        return new Meaning(String.join("/", key), isBeside);
    }

    private static String encode(String part) {
        if (part.isEmpty()) {
            return EMPTY;
        }
        boolean isDots = part.equals(".") || part.equals("..");
        StringBuilder encoded = new StringBuilder(part.length());
        for (int i = 0; i < part.length(); i++) {
            char c = part.charAt(i);
            boolean isOuterSpace = c == ' ' && (i == 0 || i == part.length() - 1);
            if (isDots || isOuterSpace || c < ' ' || c == 0x7F || c == ':' || c == '\\' || c == ESCAPE) {
                encoded.append(String.format(Locale.ROOT, "%%%02X", (int) c));
            } else {
                encoded.append(c);
            }
        }
        return encoded.toString();
    }

    /** Returns the part of a key; null if no part of a key has this form. */
    private static @Nullable String decode(String part) {
        if (part.equals(EMPTY)) {
            return "";
        }
        StringBuilder decoded = new StringBuilder(part.length());
        for (int i = 0; i < part.length(); i++) {
            char c = part.charAt(i);
            if (c != ESCAPE) {
                decoded.append(c);
                continue;
            }
            int high = i + 1 < part.length() ? Character.digit(part.charAt(i + 1), HEX) : -1;
            int low = i + 2 < part.length() ? Character.digit(part.charAt(i + 2), HEX) : -1;
            if (high < 0 || low < 0) {
                return null;
            }
            decoded.append((char) (HEX * high + low));
            i += ESCAPED_LENGTH - 1;
        }
        String text = decoded.toString();
        return !part.isEmpty() && encode(text).equals(part) && isUnicode(text) ? text : null;
    }

    /** Returns whether a text has no unpaired surrogates, which no key has. */
    private static boolean isUnicode(String text) {
        return text.codePoints().noneMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
    }
}
