package dev.stoker.formats.values;

import dev.stoker.formats.BadValueException;
import dev.stoker.schemas.values.Utf8Check;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Converts text strictly: nothing is replaced. */
public final class Utf8 {
    private Utf8() {}

    /** Returns the text, or null if the bytes between position and limit are not UTF-8. Does not change the buffer. */
    public static @Nullable String decodeOrNull(ByteBuffer bytes) {
        if (isAscii(bytes)) {
            byte[] copy = new byte[bytes.remaining()];
            bytes.get(bytes.position(), copy);
            return new String(copy, StandardCharsets.ISO_8859_1);
        }
        CharBuffer text = decoded(bytes);
        return text == null ? null : text.toString();
    }

    /** Returns whether the bytes between position and limit are UTF-8. Does not change the buffer. */
    public static boolean isValid(ByteBuffer bytes) {
        return Utf8Check.isValid(bytes);
    }

    private static @Nullable CharBuffer decoded(ByteBuffer bytes) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .decode(bytes.duplicate());
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    private static boolean isAscii(ByteBuffer bytes) {
        for (int i = bytes.position(); i < bytes.limit(); i++) {
            if (bytes.get(i) < 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * Decodes bytes into a buffer with enough space.
     *
     * @return -1, or the index of the first byte that is not UTF-8
     */
    public static int decode(byte[] bytes, int from, int to, CharBuffer into) {
        ByteBuffer in = ByteBuffer.wrap(bytes, from, to - from);
        CoderResult result = StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .decode(in, into, true);
        return result.isError() ? in.position() : -1;
    }

    /** Returns the bytes of a text. A half surrogate is refused. */
    public static ByteBuffer encode(String text) throws BadValueException {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isSurrogate(c)) {
                if (Character.isLowSurrogate(c)
                        || i + 1 == text.length()
                        || !Character.isLowSurrogate(text.charAt(i + 1))) {
                    throw new BadValueException(String.format(
                            "the text has half of a surrogate pair, \\u%04x, at character %d, which UTF-8 cannot hold",
                            (int) c, i));
                }
                i++;
            }
        }
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns a text for a message: shortened, without control characters. */
    public static String shown(String text) {
        StringBuilder out = new StringBuilder("'");
        for (int i = 0; i < text.length(); i++) {
            if (i == 40) {
                return out.append("…'").toString();
            }
            char c = text.charAt(i);
            out.append(Character.isISOControl(c) || Character.isSurrogate(c) ? '?' : c);
        }
        return out.append('\'').toString();
    }
}
