package dev.stoker.schemas.index;

import dev.stoker.schemas.crc.SelfChecksum;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Changes the files of runs. */
final class RunFiles {

    private RunFiles() {}

    /** Makes the checksum of a changed footer right again. Returns the file as it is if its footer cannot be found. */
    static byte[] reseal(byte[] file) {
        int length = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).getInt(file.length - 10) + 10;
        if (length < 10 || length > file.length) {
            return file;
        }
        byte[] tail = Arrays.copyOfRange(file, file.length - length, file.length);
        int mark = new String(tail, StandardCharsets.ISO_8859_1).indexOf("stoker.crc32c=");
        if (mark < 0) {
            return file;
        }
        Arrays.fill(tail, mark + 14, mark + 22, (byte) '0');
        byte[] copy = file.clone();
        System.arraycopy(SelfChecksum.seal(tail), 0, copy, file.length - length, length);
        return copy;
    }

    /** Replaces the last place of a text by another of the same length. */
    static byte[] replaceLast(byte[] file, String text, String by) {
        String all = new String(file, StandardCharsets.ISO_8859_1);
        int at = all.lastIndexOf(text);
        if (at < 0) {
            throw new AssertionError("not in the file: " + text);
        }
        return (all.substring(0, at) + by + all.substring(at + text.length())).getBytes(StandardCharsets.ISO_8859_1);
    }
}
