package dev.stoker.cli.browse;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * Width and height of a picture, as its header says. A small file can claim a huge picture, which a browser would make
 * room for.
 *
 * @param width pixels of a row; from 0 to 2^32-1
 * @param height number of rows; from 0 to 2^32-1
 */
record PictureSize(long width, long height) {

    private static final long MOST_PIXELS = 40_000_000;

    boolean isLarge() {
        return height > 0 && width > MOST_PIXELS / height;
    }

    /** Reads the size; empty if the header does not have it. */
    static Optional<PictureSize> of(MediaType type, ByteBuffer content) {
        ByteBuffer bytes = content.slice();
        try {
            return switch (type) {
                case PNG -> Optional.of(new PictureSize(unsigned(bytes, 16), unsigned(bytes, 20)));
                case GIF -> Optional.of(littleEndian(bytes, 6));
                case BMP -> Optional.of(bitmap(bytes.order(ByteOrder.LITTLE_ENDIAN)));
                case JPEG -> jpeg(bytes);
                case WEBP -> webp(bytes.order(ByteOrder.LITTLE_ENDIAN));
                default -> Optional.empty();
            };
        } catch (IndexOutOfBoundsException e) {
            return Optional.empty();
        }
    }

    private static long unsigned(ByteBuffer bytes, int at) {
        return bytes.getInt(at) & 0xFFFF_FFFFL;
    }

    private static PictureSize littleEndian(ByteBuffer bytes, int at) {
        bytes.order(ByteOrder.LITTLE_ENDIAN);
        return new PictureSize(bytes.getShort(at) & 0xFFFF, bytes.getShort(at + 2) & 0xFFFF);
    }

    private static PictureSize bitmap(ByteBuffer bytes) {
        // A negative height means that the rows are stored from top to bottom.
        return new PictureSize(Math.abs((long) bytes.getInt(18)), Math.abs((long) bytes.getInt(22)));
    }

    /** Finds the frame header, behind any number of other segments. */
    private static Optional<PictureSize> jpeg(ByteBuffer bytes) {
        int at = 2;
        while ((bytes.get(at) & 0xFF) == 0xFF) {
            int marker = bytes.get(at + 1) & 0xFF;
            boolean isFrame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
            if (isFrame) {
                return Optional.of(new PictureSize(bytes.getShort(at + 7) & 0xFFFF, bytes.getShort(at + 5) & 0xFFFF));
            }
            // A marker can be filled up with further FF.
            at += marker == 0xFF ? 1 : 2 + Math.max(2, bytes.getShort(at + 2) & 0xFFFF);
        }
        return Optional.empty();
    }

    private static Optional<PictureSize> webp(ByteBuffer bytes) {
        return switch (bytes.getInt(12)) {
            // "VP8 ": a key frame after a tag of 3 bytes and a start code of 3 bytes.
            case 0x20385056 -> Optional.of(new PictureSize(bytes.getShort(26) & 0x3FFF, bytes.getShort(28) & 0x3FFF));
            // "VP8L": two numbers of 14 bits, each less one.
            case 0x4C385056 ->
                Optional.of(new PictureSize((bytes.getInt(21) & 0x3FFF) + 1, (bytes.getInt(21) >>> 14 & 0x3FFF) + 1));
            // "VP8X": two numbers of 24 bits, each less one.
            case 0x58385056 ->
                Optional.of(new PictureSize(
                        (bytes.getInt(24) & 0xFF_FFFF) + 1L, (bytes.getInt(26) >>> 8 & 0xFF_FFFF) + 1L));
            default -> Optional.empty();
        };
    }
}
