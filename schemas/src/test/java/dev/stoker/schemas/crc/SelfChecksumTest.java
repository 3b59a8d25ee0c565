package dev.stoker.schemas.crc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.attack.ByteAttacks;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.StokerException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class SelfChecksumTest {

    private static final byte[] MAGIC = bytes("MAGIC");

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void verify(byte[] file) throws Exception {
        SelfChecksum.verify(file, "/d/file", "a test file", MAGIC);
    }

    @Test
    void sealsWithTheSumOverZeros() throws Exception {
        byte[] file = SelfChecksum.seal(bytes("MAGIC before stoker.crc32c=00000000 after"));

        String expected = Crc32cs.hex(Crc32cs.of(bytes("MAGIC before stoker.crc32c=00000000 after")));
        assertThat(new String(file, StandardCharsets.UTF_8))
                .isEqualTo("MAGIC before stoker.crc32c=" + expected + " after");
        verify(file);
    }

    @Test
    void everyDamageIsNoticed() {
        ByteAttacks.all(
                SelfChecksum.seal(bytes("MAGIC before stoker.crc32c=00000000 after")), SelfChecksumTest::verify);
        ByteAttacks.all(SelfChecksum.seal(bytes("MAGICstoker.crc32c=00000000")), SelfChecksumTest::verify);
    }

    @Test
    void upperCaseDigitsAreNoChecksum() {
        byte[] file = SelfChecksum.seal(bytes("MAGIC before stoker.crc32c=00000000 after!"));
        String upper = new String(file, StandardCharsets.UTF_8);
        int at = upper.indexOf('=') + 1;
        upper = upper.substring(0, at) + upper.substring(at, at + 8).toUpperCase(Locale.ROOT) + upper.substring(at + 8);
        byte[] damaged = bytes(upper);

        assertThat(damaged).isNotEqualTo(file);
        assertThatThrownBy(() -> verify(damaged)).isInstanceOf(CorruptDataException.class);
    }

    @Test
    void tellsForeignFromCorrupt() {
        assertThatThrownBy(() -> verify(bytes("something else")))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("/d/file is not a test file");
        assertThatThrownBy(() -> verify(bytes("MAGIC without a sum")))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("/d/file is corrupt: it has no checksum, so it was cut off or overwritten; ");
        assertThatThrownBy(() -> verify(SelfChecksum.seal(bytes("OTHER stoker.crc32c=00000000"))))
                .isInstanceOf(ForeignFileException.class);
        assertThatThrownBy(() -> verify(new byte[0])).isInstanceOf(CorruptDataException.class);
    }

    @Test
    void onlyTheFirstMarkCounts() throws Exception {
        byte[] file =
                SelfChecksum.seal(bytes("MAGIC stoker.crc32c=00000000 name stoker.crc32c=00000000 stoker.crc32c="));
        verify(file);
        for (int i = 0; i < file.length; i++) {
            byte[] damaged = file.clone();
            damaged[i] ^= 1;
            assertThatThrownBy(() -> verify(damaged)).isInstanceOf(StokerException.class);
        }
    }

    @Test
    void refusesToSealWhatHasNoPlaceForTheChecksum() {
        assertThatThrownBy(() -> SelfChecksum.seal(bytes("stoker.crc32c=deadbeef stoker.crc32c=00000000")))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> SelfChecksum.seal(bytes("none"))).isInstanceOf(IllegalArgumentException.class);
    }
}
