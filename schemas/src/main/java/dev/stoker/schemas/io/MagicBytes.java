package dev.stoker.schemas.io;

import java.nio.ByteBuffer;

/** Compares content with the bytes by which a kind of file is recognised. */
public final class MagicBytes {
    private MagicBytes() {}

    /**
     * Returns whether content has these bytes at an offset from its position. Does not change the buffer.
     *
     * @param bytes ISO 8859-1 characters, one for each byte
     */
    public static boolean areAt(ByteBuffer content, int offset, String bytes) {
        if (offset < 0 || content.remaining() < offset + bytes.length()) {
            return false;
        }
        for (int i = 0; i < bytes.length(); i++) {
            if ((content.get(content.position() + offset + i) & 0xFF) != bytes.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}
