package dev.stoker.mount.tree;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Turns keys into file names and back. The parts of a key between slashes are the names of directories and of the file.
 * A part that can be a file name is that name, so that a mounted dataset has the names of its source. Others are
 * escaped:
 *
 * <ul>
 *   <li>{@code %=} and the part: for an empty part, {@code .} and {@code ..}, a part with NUL, a part that looks like
 *       an escaped one, and {@code .stoker}, which has a meaning in a mount.
 *   <li>{@code %+} and the part: a directory, if there is also a sample whose key is the path of the directory.
 *   <li>{@code %~} and the beginning of a part: a directory for parts of more than 255 bytes. It contains the rest of
 *       them.
 * </ul>
 *
 * After these two characters, {@code %} and NUL are a percent sign and two hexadecimal digits.
 */
final class FileNames {

    /** The directory with the versions of a dataset. */
    static final String HIDDEN = ".stoker";

    /** Bytes of UTF-8 that a file name may have. */
    static final int MAX_BYTES = 255;

    /** Bytes of a piece of a longer name. */
    private static final int PIECE_BYTES = 250;

    private static final String ESCAPED = "%=";
    private static final String TWIN = "%+";
    private static final String PIECE = "%~";

    private FileNames() {}

    /** Says what the last name of a path stands for. */
    enum Kind {
        /** A sample, or a directory that is no sample. */
        ANY,
        /** A directory beside a sample of the same key. */
        TWIN,
        /** A directory for the rest of long parts. */
        PIECE
    }

    /**
     * The beginning of keys that a path stands for.
     *
     * @param text the key of a sample, or of a directory without its last slash; of a piece, the beginning of the keys
     */
    record Decoded(String text, Kind kind) {}

    /** Returns the name of a part of a key that is not too long. */
    static String of(String part) {
        return isPlain(part) ? part : ESCAPED + escape(part);
    }

    /** Returns the name of a directory beside a sample of the same key. */
    static String ofTwin(String part) {
        return TWIN + escape(part);
    }

    /** Returns whether the name of a part would be longer than a name may be. */
    static boolean isLong(String part) {
        return isTooLong(of(part));
    }

    /** Returns whether a name is longer than a name may be. */
    static boolean isTooLong(String name) {
        // A character has at most three bytes, a pair of surrogates four.
        return name.length() * 3 > MAX_BYTES && bytes(name) > MAX_BYTES;
    }

    /** Returns the beginning of a long part that has a directory. */
    static String firstPiece(String part) {
        int end = 0;
        int bytes = PIECE.length();
        while (end < part.length()) {
            int next = part.offsetByCodePoints(end, 1);
            bytes += bytes(escape(part.substring(end, next)));
            if (bytes > PIECE_BYTES) {
                break;
            }
            end = next;
        }
        return part.substring(0, end);
    }

    /** Returns the name of the directory for a piece. */
    static String ofPiece(String piece) {
        return PIECE + escape(piece);
    }

    /** Returns the names on the path of a sample, if no sample has the key of one of its directories. */
    static List<String> pathOf(String key) {
        List<String> names = new ArrayList<>();
        for (String part : key.split("/", -1)) {
            String rest = part;
            while (isLong(rest)) {
                String piece = firstPiece(rest);
                names.add(ofPiece(piece));
                rest = rest.substring(piece.length());
            }
            names.add(of(rest));
        }
        return names;
    }

    /** Returns what a path below the root stands for; empty if no key has this path. */
    static Optional<Decoded> decode(List<String> names) {
        StringBuilder text = new StringBuilder();
        List<String> plain = new ArrayList<>();
        Kind kind = Kind.ANY;
        for (int i = 0; i < names.size(); i++) {
            String name = names.get(i);
            if (i > 0 && kind != Kind.PIECE) {
                text.append('/');
            }
            kind = name.startsWith(TWIN) ? Kind.TWIN : name.startsWith(PIECE) ? Kind.PIECE : Kind.ANY;
            Optional<String> part =
                    kind != Kind.ANY || name.startsWith(ESCAPED) ? unescape(name.substring(2)) : Optional.of(name);
            if (part.isEmpty()) {
                return Optional.empty();
            }
            text.append(part.get());
            plain.add(kind == Kind.TWIN ? of(part.get()) : name);
        }
        Decoded decoded = new Decoded(text.toString(), kind);
        boolean isCanonical = kind == Kind.PIECE || pathOf(decoded.text()).equals(plain);
        return isCanonical ? Optional.of(decoded) : Optional.empty();
    }

    private static boolean isPlain(String part) {
        if (part.isEmpty() || part.indexOf('\0') >= 0 || part.equals(HIDDEN)) {
            return false;
        }
        return part.charAt(0) == '%'
                ? !part.startsWith(ESCAPED) && !part.startsWith(TWIN) && !part.startsWith(PIECE)
                : !part.equals(".") && !part.equals("..");
    }

    private static String escape(String part) {
        if (part.indexOf('%') < 0 && part.indexOf('\0') < 0) {
            return part;
        }
        StringBuilder escaped = new StringBuilder();
        for (int i = 0; i < part.length(); i++) {
            char c = part.charAt(i);
            if (c == '%' || c == '\0') {
                escaped.append(String.format(Locale.ROOT, "%%%02X", (int) c));
            } else {
                escaped.append(c);
            }
        }
        return escaped.toString();
    }

    private static Optional<String> unescape(String name) {
        StringBuilder part = new StringBuilder();
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c != '%') {
                part.append(c);
            } else if (name.startsWith("%25", i) || name.startsWith("%00", i)) {
                part.append(name.charAt(i + 1) == '2' ? '%' : '\0');
                i += 2;
            } else {
                return Optional.empty();
            }
        }
        return Optional.of(part.toString());
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
