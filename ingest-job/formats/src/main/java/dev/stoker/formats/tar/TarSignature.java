package dev.stoker.formats.tar;

import java.nio.ByteBuffer;

/** Recognises tar archives. */
public final class TarSignature {
    private TarSignature() {}

    /** Returns whether a file with these first bytes is a tar archive with members. */
    public static boolean isTar(ByteBuffer first) {
        if (first.remaining() < TarHeader.BLOCK) {
            return false;
        }
        byte[] block = new byte[TarHeader.BLOCK];
        first.duplicate().get(block);
        return block[0] != 0 && TarHeader.isSound(block);
    }

    /** Returns whether a file with these first bytes may be a tar archive without members, which has only zeros. */
    public static boolean isEmpty(ByteBuffer first) {
        return first.remaining() >= 2 * TarHeader.BLOCK && isZero(first);
    }

    private static boolean isZero(ByteBuffer bytes) {
        for (int i = bytes.position(); i < bytes.limit(); i++) {
            if (bytes.get(i) != 0) {
                return false;
            }
        }
        return true;
    }
}
