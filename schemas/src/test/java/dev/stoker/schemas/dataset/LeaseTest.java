package dev.stoker.schemas.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.attack.ByteAttacks;
import dev.stoker.schemas.attack.Features;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.FormatTooNewException;
import java.io.IOException;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class LeaseTest {

    private static Lease lease() {
        return new Lease(
                UUID.fromString("5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d"),
                "photos-1",
                Instant.parse("2026-11-20T10:00:00.120Z"),
                "zoë@host",
                "0b8f2d6c-3a51-4e0f-8c39-5b6f7a8d9e10/pid:[4026531836]/4711/815");
    }

    private static void read(byte[] file) throws IOException {
        Lease.decode(file, "/d/photos-1.json");
    }

    @Test
    void writesTheGoldenFile() throws IOException {
        Golden.check("lease-1.json", lease().encode());
        assertThat(Lease.decode(Golden.read("lease-1.json"), "file")).isEqualTo(lease());
    }

    @Test
    void everyDamageIsNoticed() {
        ByteAttacks.all(lease().encode(), LeaseTest::read);
    }

    @Test
    void aNewerFormatIsTooNewAndAMissingKeyIsCorrupt() {
        assertThatThrownBy(() ->
                        read(ByteAttacks.reseal(ByteAttacks.replace(lease().encode(), "\"format\":1", "\"format\":9"))))
                .isInstanceOf(FormatTooNewException.class);
        assertThatThrownBy(() -> read(ByteAttacks.reseal(ByteAttacks.replace(lease().encode(), "\"by\":", "\"of\":"))))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("by is not text");
    }

    @Test
    void namesAFeatureThatItDoesNotKnowAndIgnoresOtherKeys() throws IOException {
        byte[] file = lease().encode();
        Features.assertNamed("/d/photos-1.json", () -> read(Features.inJson(file, "requires", Features.LIST)));
        Features.assertMalformed("/d/photos-1.json", () -> read(Features.inJson(file, "requires", Features.MALFORMED)));
        assertThat(Lease.decode(Features.inJson(file, "later", "{\"a\":[1]}"), "file"))
                .isEqualTo(lease());
    }
}
