package dev.stoker.schemas.crc;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Computes and verifies the checksum that a small file contains: the ASCII text {@code stoker.crc32c=} followed by
 * eight lower-case hex digits, the CRC-32C of the whole file with these digits replaced by {@code 00000000}. The first
 * such text of a file counts. A format places it before all text of users, or {@linkplain #escape escapes} that text.
 * Such text may therefore have any content. Stateless and thread-safe.
 */
public final class SelfChecksum {

    /** Text that a writer puts in the place of the checksum. */
    public static final String PLACEHOLDER = "stoker.crc32c=00000000";

    private static final int DIGITS = 8;
    private static final byte[] MARK = "stoker.crc32c=".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] ZEROS = "00000000".getBytes(StandardCharsets.US_ASCII);

    private SelfChecksum() {}

    /**
     * Fills in the checksum, in place, and returns the same array.
     *
     * @throws IllegalArgumentException if the content has no mark, or its first one is not the placeholder
     */
    public static byte[] seal(byte[] content) {
        int mark = find(content, 0);
        int digits = mark + MARK.length;
        if (mark < 0
                || digits + DIGITS > content.length
                || !Arrays.equals(content, digits, digits + DIGITS, ZEROS, 0, DIGITS)) {
            throw new IllegalArgumentException("The checksum's place does not hold zeros");
        }
        byte[] hex = HexFormat.of().toHexDigits(Crc32cs.of(content)).getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(hex, 0, content, digits, DIGITS);
        return content;
    }

    /**
     * Returns JSON with the same meaning whose texts do not contain the mark. For JSON that precedes the checksum in a
     * format.
     */
    public static String escape(String json) {
        return json.replace("stoker.crc32c=", "stoker.crc32c\\u003d");
    }

    /**
     * Verifies a complete file before any of it is parsed.
     *
     * @param file the file's name as the user knows it
     * @param kind kind of the file, such as {@code "a Stoker log entry"}
     * @param magic the first bytes of every file of the kind
     * @throws ForeignFileException if the file has another magic, and no checksum or a correct one
     * @throws CorruptDataException if the bytes differ from the written bytes
     */
    public static void verify(byte[] content, String file, String kind, byte[] magic)
            throws CorruptDataException, ForeignFileException {
        int mark = find(content, 0);
        boolean magicFits =
                content.length >= magic.length && Arrays.equals(content, 0, magic.length, magic, 0, magic.length);
        if (mark < 0) {
            if (!magicFits && content.length >= magic.length) {
                throw new ForeignFileException(file, kind, "it does not start like one and has no checksum");
            }
            throw withoutChecksum(file);
        }
        int digits = mark + MARK.length;
        if (digits + DIGITS > content.length) {
            throw withoutChecksum(file);
        }
        String stated = new String(content, digits, DIGITS, StandardCharsets.US_ASCII);
        String actual = HexFormat.of().toHexDigits(crcWithZeros(content, digits));
        if (!stated.equals(actual)) {
            throw CorruptDataException.mismatch(file, "its checksum", stated, actual);
        }
        if (!magicFits) {
            throw new ForeignFileException(file, kind, "it starts differently");
        }
    }

    private static CorruptDataException withoutChecksum(String file) {
        return new CorruptDataException(file + " is corrupt: it has no checksum, so it was cut off or overwritten; "
                + CorruptDataException.FILE_ADVICE);
    }

    private static int crcWithZeros(byte[] content, int digits) {
        int end = digits + DIGITS;
        int crc = Crc32cs.combine(Crc32cs.of(content, 0, digits), Crc32cs.of(ZEROS), DIGITS);
        return Crc32cs.combine(crc, Crc32cs.of(content, end, content.length - end), content.length - end);
    }

    private static int find(byte[] content, int from) {
        outer:
        for (int i = from; i <= content.length - MARK.length; i++) {
            for (int j = 0; j < MARK.length; j++) {
                if (content[i + j] != MARK[j]) {
                    continue outer;
                }
            }
            return i;
        }
        return -1;
    }
}
