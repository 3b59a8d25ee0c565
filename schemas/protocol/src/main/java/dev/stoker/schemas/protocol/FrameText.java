package dev.stoker.schemas.protocol;

import dev.stoker.schemas.protocol.parts.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Encodes and decodes texts of known length in the bodies of frames. */
final class FrameText {
    private FrameText() {}

    /** Returns the UTF-8 of a text. Throws IllegalArgumentException if it has unpaired surrogates. */
    static byte[] utf8(String name, String text) {
        try {
            ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            byte[] out = new byte[bytes.remaining()];
            bytes.get(out);
            return out;
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(name + " is not Unicode text", e);
        }
    }

    /**
     * Reads a text.
     *
     * @param bytes its length; checked against the bytes that are left
     */
    static String read(FrameType type, ByteBuffer body, long bytes) throws ProtocolException {
        if (bytes < 0 || bytes > body.remaining()) {
            throw ProtocolException.badFrame(type + ": " + body.remaining() + " bytes left for a text of " + bytes);
        }
        ByteBuffer part = body.slice(body.position(), (int) bytes);
        body.position(body.position() + (int) bytes);
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(part).toString();
        } catch (CharacterCodingException e) {
            throw new ProtocolException(ErrorCode.BAD_FRAME, type + ": a text is not UTF-8", e);
        }
    }

    static void requireEnd(FrameType type, ByteBuffer body) throws ProtocolException {
        if (body.hasRemaining()) {
            throw ProtocolException.badFrame(type + ": " + body.remaining() + " bytes too many");
        }
    }

    static void requireZero(FrameType type, int reserved) throws ProtocolException {
        if (reserved != 0) {
            throw ProtocolException.badFrame(type + ": reserved bytes are not 0");
        }
    }

    static ByteBuffer allocate(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
