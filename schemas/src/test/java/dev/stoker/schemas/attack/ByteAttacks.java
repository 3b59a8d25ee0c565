package dev.stoker.schemas.attack;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.crc.SelfChecksum;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Damages a file in every small way and demands a typed error each time. */
public final class ByteAttacks {

    /** Reads a whole file, strictly. */
    public interface Reader {
        void read(byte[] file) throws Exception;
    }

    private ByteAttacks() {}

    /** Flips every bit, one at a time. */
    public static void flipEveryBit(byte[] file, Reader reader) {
        for (int bit = 0; bit < 8 * file.length; bit++) {
            byte[] damaged = file.clone();
            damaged[bit / 8] ^= (byte) (1 << (bit % 8));
            refuse(damaged, reader, "bit " + bit % 8 + " of byte " + bit / 8 + " flipped");
        }
    }

    /** Cuts the file off at every length. */
    public static void truncateEverywhere(byte[] file, Reader reader) {
        for (int length = 0; length < file.length; length++) {
            refuse(Arrays.copyOf(file, length), reader, "cut to " + length + " of " + file.length + " bytes");
        }
    }

    /** Appends bytes. */
    public static void append(byte[] file, Reader reader) {
        for (int more : new int[] {1, 2, 8, 64}) {
            refuse(Arrays.copyOf(file, file.length + more), reader, more + " zero bytes appended");
        }
    }

    /** All three. */
    public static void all(byte[] file, Reader reader) {
        flipEveryBit(file, reader);
        truncateEverywhere(file, reader);
        append(file, reader);
    }

    private static void refuse(byte[] damaged, Reader reader, String damage) {
        Throwable thrown = null;
        try {
            reader.read(damaged);
        } catch (Throwable e) {
            thrown = e;
        }
        assertThat(thrown)
                .as(damage)
                .isInstanceOfAny(CorruptDataException.class, ForeignFileException.class, FormatTooNewException.class);
    }

    /** Makes the self-checksum of a changed file right again. */
    public static byte[] reseal(byte[] file) {
        byte[] mark = "stoker.crc32c=".getBytes(StandardCharsets.US_ASCII);
        int at = indexOf(file, mark) + mark.length;
        byte[] copy = file.clone();
        Arrays.fill(copy, at, at + 8, (byte) '0');
        return SelfChecksum.seal(copy);
    }

    /** The first place of a sequence of bytes. */
    public static int indexOf(byte[] file, byte[] sequence) {
        for (int i = 0; i <= file.length - sequence.length; i++) {
            if (Arrays.equals(file, i, i + sequence.length, sequence, 0, sequence.length)) {
                return i;
            }
        }
        throw new AssertionError("not in the file: " + Arrays.toString(sequence));
    }

    /** Replaces the first place of a text by another of the same length. */
    public static byte[] replace(byte[] file, String text, String by) {
        byte[] from = text.getBytes(StandardCharsets.UTF_8);
        byte[] to = by.getBytes(StandardCharsets.UTF_8);
        assertThat(to).hasSameSizeAs(from);
        byte[] copy = file.clone();
        System.arraycopy(to, 0, copy, indexOf(file, from), to.length);
        return copy;
    }
}
