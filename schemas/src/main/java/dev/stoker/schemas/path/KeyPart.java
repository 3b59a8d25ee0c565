package dev.stoker.schemas.path;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A part of a key between slashes.
 *
 * @param text the part
 * @param isFirst whether the key begins with it
 * @param isBeside whether it is a directory beside a sample of the same key
 */
record KeyPart(String text, boolean isFirst, boolean isBeside) {

    static final char ESCAPE = '%';

    /** The name of an empty part. */
    static final String EMPTY = "%";

    /** The end of the name of a directory beside a sample. */
    static final String BESIDE = "%";

    /** The end of the name of a piece. */
    static final String CONTINUED = "%-";

    /** Characters of an escape. */
    static final int ESCAPED_LENGTH = 3;

    /**
     * A piece ends behind the character that makes it this long, if each character counts as if it were escaped where
     * it can be. So its end depends on the piece alone. A character has at most four bytes, the end of the name has
     * two, and an escaped first character has two more than the character.
     */
    private static final int PIECE_BYTES = KeyPaths.MAX_BYTES - 8;

    private static final String TEMPORARY = ".tmp-";
    private static final Set<String> RESERVED_FIRST = Set.of(".stoker", "_SUCCESS", "_EXPORTING");

    /**
     * Returns the names for the part. Each is in the directory that the name before it names.
     *
     * @throws IllegalArgumentException if the part has unpaired surrogates, which no key has
     */
    List<String> names() {
        String end = isBeside ? BESIDE : "";
        String name = encode(text, isFirst) + end;
        if (!isTooLong(name)) {
            return List.of(name);
        }
        List<String> names = new ArrayList<>();
        String rest = text;
        do {
            int length = pieceLength(rest);
            names.add(encode(rest.substring(0, length), isFirst && names.isEmpty()) + CONTINUED);
            rest = rest.substring(length);
            name = encode(rest, false) + end;
        } while (isTooLong(name));
        names.add(name);
        return names;
    }

    private static int pieceLength(String part) {
        int bytes = 0;
        int end = 0;
        while (bytes < PIECE_BYTES) {
            int c = part.codePointAt(end);
            bytes += isEscaped(c) || c == ' ' ? ESCAPED_LENGTH : c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
            end += Character.charCount(c);
        }
        return end;
    }

    private static boolean isTooLong(String name) {
        // A character has at most three bytes, a pair of surrogates four.
        return name.length() * 3L > KeyPaths.MAX_BYTES
                && name.getBytes(StandardCharsets.UTF_8).length > KeyPaths.MAX_BYTES;
    }

    private static boolean isEscaped(int c) {
        return c < ' ' || c == 0x7F || c == ESCAPE || c == ':' || c == '\\';
    }

    private static boolean isReserved(String part, boolean isFirst) {
        return part.equals(".")
                || part.equals("..")
                || part.startsWith(TEMPORARY)
                || (isFirst && RESERVED_FIRST.contains(part));
    }

    private static String encode(String part, boolean isFirst) {
        if (part.isEmpty()) {
            return EMPTY;
        }
        boolean isReserved = isReserved(part, isFirst);
        StringBuilder name = new StringBuilder(part.length());
        for (int i = 0; i < part.length(); i++) {
            char c = part.charAt(i);
            boolean isOuterSpace = c == ' ' && (i == 0 || i == part.length() - 1);
            if (isEscaped(c) || isOuterSpace || (isReserved && i == 0)) {
                name.append(KeyPaths.escape(c));
            } else if (isUnpaired(part, i)) {
                throw new IllegalArgumentException("the key has an unpaired surrogate, which is no text");
            } else {
                name.append(c);
            }
        }
        return name.toString();
    }

    /** Returns whether a character of a text is a surrogate without the other one of its pair. */
    static boolean isUnpaired(String text, int at) {
        char c = text.charAt(at);
        return Character.isSurrogate(c)
                && (Character.isHighSurrogate(c)
                        ? at + 1 == text.length() || !Character.isLowSurrogate(text.charAt(at + 1))
                        : at == 0 || !Character.isHighSurrogate(text.charAt(at - 1)));
    }
}
