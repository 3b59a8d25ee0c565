package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.DetachedColumns;
import dev.stoker.schemas.arrow.HeadPart;
import dev.stoker.schemas.crc.ConcatCrc;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads and writes the checksums of a head's parts in the footer: eight hexadecimal digits for each part. */
final class HeadChecksums {
    static final String KEY = "stoker.buffer_crc32c";
    private static final int DIGITS = 8;

    private HeadChecksums() {}

    /**
     * The checksums of a head.
     *
     * @param text one for each part
     * @param whole of the whole head
     */
    record Sums(String text, int whole) {}

    /** Computes the checksums of a head, from index 0 to the limit, in one pass over its bytes. */
    static Sums of(ByteBuffer head, List<HeadPart> parts) {
        StringBuilder text = new StringBuilder(DIGITS * parts.size());
        ConcatCrc whole = new ConcatCrc();
        for (HeadPart part : parts) {
            addUpTo(part.position(), head, whole);
            int crc = Crc32cs.of(head.slice((int) part.position(), part.length()));
            text.append(Crc32cs.hex(crc));
            if (part.length() > 0) {
                whole.add(crc, part.length());
            }
        }
        addUpTo(head.limit(), head, whole);
        return new Sums(text.toString(), whole.value());
    }

    /** Adds the bytes between two parts. */
    private static void addUpTo(long position, ByteBuffer head, ConcatCrc whole) {
        int length = (int) (position - whole.length());
        if (length > 0) {
            whole.add(head.slice((int) whole.length(), length));
        }
    }

    /** Returns a text of the right length. */
    static String blank(int parts) {
        return "0".repeat(DIGITS * parts);
    }

    /** Parses a text with one checksum for each part. */
    static int[] parse(@Nullable String text, int parts, String file) throws CorruptDataException {
        if (text == null || text.length() != DIGITS * parts || !text.matches("[0-9a-f]*")) {
            throw CorruptDataException.mismatch(
                    file, KEY, parts + " checksums of 8 hexadecimal digits", text == null ? "none" : "another text");
        }
        int[] crcs = new int[parts];
        for (int p = 0; p < parts; p++) {
            crcs[p] = Integer.parseUnsignedInt(text.substring(DIGITS * p, DIGITS * (p + 1)), 16);
        }
        return crcs;
    }

    /** Returns the checksum of the whole head, computed from the checksums of its parts. */
    static int combined(DetachedColumns columns, int[] crcs, long headLength) {
        ConcatCrc crc = new ConcatCrc();
        crc.add(columns.opening());
        for (int p = 0; p < crcs.length; p++) {
            HeadPart part = columns.parts().get(p);
            crc.addZeros((int) (part.position() - crc.length()));
            if (part.length() > 0) {
                crc.add(crcs[p], part.length());
            }
        }
        crc.addZeros((int) (headLength - crc.length()));
        return crc.value();
    }
}
