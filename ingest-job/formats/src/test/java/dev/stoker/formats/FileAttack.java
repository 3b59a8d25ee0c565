package dev.stoker.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.stoker.schemas.testing.Rounds;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.TestInfo;

/** Damages a file in many ways. Only the exceptions of the module may come out. */
public final class FileAttack {
    /** Small, so that memory beyond it is noticed. */
    public static final ReadLimits LIMITS = new ReadLimits(16 << 20, 1 << 20, 32, 1000);

    private FileAttack() {}

    /** Cuts the file off at every length. */
    public static void truncate(RowFormat format, byte[] file) throws IOException {
        for (int length = 0; length < file.length; length++) {
            read(format, Arrays.copyOf(file, length), "truncated to " + length);
        }
    }

    /** Flips every bit, one at a time, and sets every byte to values that make large numbers. */
    public static void flip(RowFormat format, byte[] file) throws IOException {
        for (int at = 0; at < file.length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] damaged = file.clone();
                damaged[at] ^= (byte) (1 << bit);
                read(format, damaged, "bit " + bit + " of byte " + at + " flipped");
            }
            for (int value : new int[] {0, 0x7f, 0x80, 0xff}) {
                byte[] damaged = file.clone();
                damaged[at] = (byte) value;
                read(format, damaged, "byte " + at + " set to " + value);
            }
        }
    }

    /** Replaces random ranges by random bytes and by large numbers. */
    public static void scramble(RowFormat format, byte[] file, TestInfo test) {
        Rounds.of(test).seconds(0.2).atLeast(150).run((random, round) -> {
            byte[] damaged = file.clone();
            int at = random.nextInt(file.length);
            int count = Math.min(file.length - at, 1 + random.nextInt(8));
            byte[] bytes = new byte[count];
            if (random.nextBoolean()) {
                random.nextBytes(bytes);
            } else {
                Arrays.fill(bytes, (byte) 0xff);
                bytes[count - 1] = (byte) random.nextInt(128);
            }
            System.arraycopy(bytes, 0, damaged, at, count);
            read(format, damaged, "byte " + at);
        });
    }

    /** Returns the rows of the file, or null if it was refused. */
    private static List<List<String>> read(RowFormat format, byte[] file, String how) {
        try {
            return ReadRows.of(format, file, LIMITS).rows();
        } catch (DamagedFileException | UnsupportedFileException e) {
            assertThat(e.getMessage())
                    .as(how)
                    .contains("test-file")
                    // Avro quotes the name of a type that it does not know, and a damaged name can begin with "null;".
                    .doesNotContainPattern("Cannot (invoke|read|load|store)|(Index|Range) .*out of bounds|java\\."
                            + "|(?<!Undefined schema): null(;|$)");
            return null;
        } catch (IOException | RuntimeException | Error e) {
            return fail(how + " gave " + e, e);
        }
    }

    /**
     * Flips every bit of a file with checksums. The rows must equal the rows that were written, or the file must be
     * refused.
     */
    public static void flipChecked(RowFormat format, byte[] file, int from, int to) throws IOException {
        List<List<String>> rows = ReadRows.of(format, file, LIMITS).rows();
        for (int at = from; at < to; at++) {
            byte[] damaged = file.clone();
            damaged[at] ^= 0x10;
            List<List<String>> read = read(format, damaged, "byte " + at);
            if (read != null) {
                assertThat(read).as("byte " + at).isEqualTo(rows);
            }
        }
    }
}
