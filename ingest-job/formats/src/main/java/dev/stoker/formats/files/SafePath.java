package dev.stoker.formats.files;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;

/**
 * Turns keys into relative paths that stay below their directory. Different keys give different paths, and {@link
 * #keyOf} turns a path back into its key.
 *
 * <p>The parts of a key between slashes become the parts of the path. Within a part, a percent sign, a backslash, and
 * control characters become a percent sign and two hexadecimal digits for each byte. So does the first character of the
 * parts {@code .} and {@code ..}, of a part that begins with {@code .tmp-}, and of the keys {@code _SUCCESS} and {@code
 * _EXPORTING}, which have a meaning at the target. An empty part, as before the first slash of {@code /a}, becomes a
 * single percent sign.
 */
public final class SafePath {
    /** Bytes of UTF-8 that usual file systems allow in a part. */
    public static final int MAX_PART = 255;

    private static final Set<String> RESERVED = Set.of("_SUCCESS", "_EXPORTING");

    private SafePath() {}

    /** Returns the path of a key. */
    public static String of(String key) {
        StringBuilder path = new StringBuilder(key.length());
        int start = 0;
        while (true) {
            int slash = key.indexOf('/', start);
            String part = slash < 0 ? key.substring(start) : key.substring(start, slash);
            add(part, RESERVED.contains(key), path);
            if (slash < 0) {
                return path.toString();
            }
            path.append('/');
            start = slash + 1;
        }
    }

    private static void add(String part, boolean isReserved, StringBuilder path) {
        if (part.isEmpty()) {
            path.append('%');
            return;
        }
        boolean isSpecial = isReserved || part.equals(".") || part.equals("..") || part.startsWith(".tmp-");
        for (int i = 0; i < part.length(); i++) {
            char c = part.charAt(i);
            if (c < ' ' || c == 0x7F || c == '%' || c == '\\' || (isSpecial && i == 0)) {
                escape(c, path);
            } else {
                path.append(c);
            }
        }
    }

    /** Appends an ASCII character in its escaped form. */
    public static void escape(char c, StringBuilder path) {
        path.append(String.format(Locale.ROOT, "%%%02X", (int) c));
    }

    /** Returns the key of a path. */
    public static String keyOf(String path) {
        StringBuilder key = new StringBuilder(path.length());
        for (int i = 0; i < path.length(); i++) {
            char c = path.charAt(i);
            boolean isEmptyPart = c == '%' && (i + 1 == path.length() || path.charAt(i + 1) == '/');
            if (c == '%' && !isEmptyPart) {
                key.append((char) Integer.parseInt(path.substring(i + 1, i + 3), 16));
                i += 2;
            } else if (!isEmptyPart) {
                key.append(c);
            }
        }
        return key.toString();
    }

    /** Returns whether a part of the path is longer than file systems allow. */
    public static boolean isTooLong(String path) {
        int start = 0;
        while (start <= path.length()) {
            int slash = path.indexOf('/', start);
            int end = slash < 0 ? path.length() : slash;
            if (end - start > MAX_PART
                    || path.substring(start, end).getBytes(StandardCharsets.UTF_8).length > MAX_PART) {
                return true;
            }
            start = end + 1;
        }
        return false;
    }
}
