package dev.stoker.formats.tar;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The block before a member.
 *
 * <table>
 * <caption>Layout, of 512 bytes</caption>
 * <tr><td>0</td><td>name, 100 bytes</td></tr>
 * <tr><td>124</td><td>size, 12 bytes, octal or base 256</td></tr>
 * <tr><td>148</td><td>checksum, 8 bytes</td></tr>
 * <tr><td>156</td><td>type, 1 byte</td></tr>
 * <tr><td>257</td><td>magic and version, 8 bytes</td></tr>
 * <tr><td>345</td><td>prefix of the name, 155 bytes, if the magic is POSIX's</td></tr>
 * </table>
 */
final class TarHeader {
    static final int BLOCK = 512;
    private static final int NAME_BYTES = 100;
    private static final int SIZE = 124;
    private static final int SIZE_BYTES = 12;
    private static final int CHECKSUM = 148;
    private static final int CHECKSUM_BYTES = 8;
    private static final int TYPE = 156;
    private static final int MAGIC = 257;
    private static final int PREFIX = 345;
    private static final int PREFIX_BYTES = 155;
    private static final byte[] POSIX = "ustar\0".getBytes(StandardCharsets.US_ASCII);

    private TarHeader() {}

    static boolean isZero(byte[] block) {
        for (byte b : block) {
            if (b != 0) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether the block's checksum is right. Some old programs added up signed bytes. */
    static boolean isSound(byte[] block) {
        long stored = number(block, CHECKSUM, CHECKSUM_BYTES);
        int spaces = CHECKSUM_BYTES * ' ';
        int unsigned = spaces;
        int signed = spaces;
        for (int i = 0; i < BLOCK; i++) {
            unsigned += block[i] & 0xff;
            signed += block[i];
        }
        for (int i = CHECKSUM; i < CHECKSUM + CHECKSUM_BYTES; i++) {
            unsigned -= block[i] & 0xff;
            signed -= block[i];
        }
        return stored >= 0 && (stored == unsigned || stored == signed);
    }

    static char type(byte[] block) {
        return (char) (block[TYPE] & 0xff);
    }

    /** Returns the size of the member, or -1 if the field is not a number. */
    static long size(byte[] block) {
        return number(block, SIZE, SIZE_BYTES);
    }

    static byte[] name(byte[] block) {
        byte[] name = text(block, 0, NAME_BYTES);
        if (!Arrays.equals(block, MAGIC, MAGIC + POSIX.length, POSIX, 0, POSIX.length) || block[PREFIX] == 0) {
            return name;
        }
        byte[] prefix = text(block, PREFIX, PREFIX_BYTES);
        byte[] full = Arrays.copyOf(prefix, prefix.length + 1 + name.length);
        full[prefix.length] = '/';
        System.arraycopy(name, 0, full, prefix.length + 1, name.length);
        return full;
    }

    private static byte[] text(byte[] block, int offset, int bytes) {
        int end = offset;
        while (end < offset + bytes && block[end] != 0) {
            end++;
        }
        return Arrays.copyOfRange(block, offset, end);
    }

    private static long number(byte[] block, int offset, int bytes) {
        if ((block[offset] & 0x80) != 0) {
            return base256(block, offset, bytes);
        }
        int at = offset;
        int end = offset + bytes;
        while (at < end && block[at] == ' ') {
            at++;
        }
        long value = 0;
        for (; at < end && block[at] >= '0' && block[at] <= '7'; at++) {
            value = value << 3 | block[at] - '0';
        }
        return at < end && block[at] != 0 && block[at] != ' ' ? -1 : value;
    }

    private static long base256(byte[] block, int offset, int bytes) {
        long value = block[offset] & 0x7f;
        for (int i = offset + 1; i < offset + bytes; i++) {
            if (value >>> 55 != 0) {
                return -1;
            }
            value = value << 8 | (block[i] & 0xff);
        }
        return value;
    }
}
