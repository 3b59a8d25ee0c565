package dev.stoker.schemas.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.attack.ByteAttacks;
import dev.stoker.schemas.attack.Features;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.errors.FormatTooNewException;
import java.io.IOException;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class VersionUseTest {

    private static VersionUse use() {
        return new VersionUse(
                UUID.fromString("5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d"),
                7,
                UUID.fromString("6f1d2c3b-4a59-5687-9784-a5b6c7d8e9f0"),
                Instant.parse("2026-11-20T10:00:00.120Z"),
                "zoë@host");
    }

    private static void read(byte[] file) throws IOException {
        VersionUse.decode(file, "/d/use.json");
    }

    @Test
    void writesTheGoldenFile() throws IOException {
        Golden.check("version-use-1.json", use().encode());
        assertThat(VersionUse.decode(Golden.read("version-use-1.json"), "file")).isEqualTo(use());
        assertThat(VersionUse.file(7, use().feed()))
                .isEqualTo("00000000000000000007/6f1d2c3b-4a59-5687-9784-a5b6c7d8e9f0.json");
    }

    @Test
    void everyDamageIsNoticed() {
        ByteAttacks.all(use().encode(), VersionUseTest::read);
    }

    @Test
    void aNewerFormatIsTooNewAndOtherKeysAreIgnored() throws IOException {
        byte[] file = use().encode();
        assertThatThrownBy(() -> read(ByteAttacks.reseal(ByteAttacks.replace(file, "\"format\":1", "\"format\":9"))))
                .isInstanceOf(FormatTooNewException.class);
        Features.assertNamed("/d/use.json", () -> read(Features.inJson(file, "requires", Features.LIST)));
        assertThat(VersionUse.decode(Features.inJson(file, "later", "{\"a\":[1]}"), "file"))
                .isEqualTo(use());
    }
}
