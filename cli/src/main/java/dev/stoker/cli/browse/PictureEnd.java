package dev.stoker.cli.browse;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Whether a picture is whole. Browsers show the part that is there, which looks like a picture with a dark edge. Data
 * behind the end of a picture is allowed: cameras append films, for example.
 */
final class PictureEnd {

    private static final int PNG_END = 0x49454E44; // "IEND"

    private PictureEnd() {}

    /** Returns whether a JPEG, PNG, WebP or BMP ends before its picture does. */
    static boolean isMissing(MediaType type, ByteBuffer content) {
        ByteBuffer bytes = content.slice();
        try {
            return switch (type) {
                case JPEG -> !hasEndOfJpeg(bytes);
                case PNG -> !hasEndOfPng(bytes);
                case WEBP -> bytes.remaining() - 8 < unsigned(bytes, 4);
                case BMP -> bytes.remaining() < unsigned(bytes, 2);
                default -> false;
            };
        } catch (IndexOutOfBoundsException e) {
            return true;
        }
    }

    private static long unsigned(ByteBuffer bytes, int at) {
        return bytes.order(ByteOrder.LITTLE_ENDIAN).getInt(at) & 0xFFFF_FFFFL;
    }

    /** Goes from segment to segment, and over the coded rows behind each start of scan, until the end of image. */
    private static boolean hasEndOfJpeg(ByteBuffer bytes) {
        int at = 2;
        while (true) {
            // Coded rows contain no FF, unless a 0 or one of the restart markers D0 to D7 follows.
            while (bytes.get(at) != (byte) 0xFF) {
                at++;
            }
            int marker = bytes.get(at + 1) & 0xFF;
            if (marker == 0xD9) {
                return true;
            }
            if (marker == 0xFF) {
                at++;
            } else if (marker <= 0x01 || (marker >= 0xD0 && marker <= 0xD8)) {
                at += 2;
            } else {
                at += 2 + (bytes.getShort(at + 2) & 0xFFFF);
            }
        }
    }

    private static boolean hasEndOfPng(ByteBuffer bytes) {
        long at = 8;
        while (at + 12 <= bytes.remaining()) {
            if (bytes.getInt((int) at + 4) == PNG_END) {
                return true;
            }
            at += 12 + (bytes.getInt((int) at) & 0xFFFF_FFFFL);
        }
        return false;
    }
}
