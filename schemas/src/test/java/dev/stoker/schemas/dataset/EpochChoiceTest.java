package dev.stoker.schemas.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.attack.ByteAttacks;
import dev.stoker.schemas.attack.Features;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.FormatTooNewException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class EpochChoiceTest {

    private static final EpochChoice.Pass PASS =
            new EpochChoice.Pass(UUID.fromString("6f1d2c3b-4a59-5687-9a53-0d6f1a2b3c4d"), "train", "été/\"1\" 😀");

    private static EpochChoice choice() {
        return new EpochChoice(
                PASS,
                3,
                UUID.fromString("5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d"),
                7,
                Instant.parse("2026-11-20T10:00:00.120Z"));
    }

    private static void read(byte[] file) throws IOException {
        EpochChoice.decode(file, "/d/choice.json");
    }

    @Test
    void writesTheGoldenFile() throws IOException {
        Golden.check("epoch-choice-1.json", choice().encode());
        assertThat(EpochChoice.decode(Golden.read("epoch-choice-1.json"), "file"))
                .isEqualTo(choice());
    }

    @Test
    void everyDamageIsNoticed() {
        ByteAttacks.all(choice().encode(), EpochChoiceTest::read);
    }

    @Test
    void aNewerFormatIsTooNewAndAnImpossibleChoiceIsCorrupt() {
        assertThatThrownBy(() -> read(
                        ByteAttacks.reseal(ByteAttacks.replace(choice().encode(), "\"format\":1", "\"format\":9"))))
                .isInstanceOf(FormatTooNewException.class);
        assertThatThrownBy(() -> read(
                        ByteAttacks.reseal(ByteAttacks.replace(choice().encode(), "\"version\":7", "\"version\":0"))))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("version 0");
        assertThatThrownBy(() ->
                        read(ByteAttacks.reseal(ByteAttacks.replace(choice().encode(), "\"epoch\":3", "\"epoca\":3"))))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("epoch is not a number");
    }

    @Test
    void itsNameHoldsWhateverAGroupIsCalled() {
        assertThat(PASS.name(3))
                .matches("6f1d2c3b-4a59-5687-9a53-0d6f1a2b3c4d/epochs/[0-9a-f]{32}/00000000000000000003\\.json")
                .isEqualTo(PASS.folder() + "00000000000000000003.json");
        assertThat(new EpochChoice.Pass(PASS.feed(), "train", "default").folder())
                .isNotEqualTo(PASS.folder());
        assertThat(new String(choice().encode(), StandardCharsets.UTF_8)).contains("été/\\\"1\\\" 😀");
    }

    @Test
    void namesAFeatureThatItDoesNotKnowAndIgnoresOtherKeys() throws IOException {
        byte[] file = choice().encode();
        Features.assertNamed("/d/choice.json", () -> read(Features.inJson(file, "requires", Features.LIST)));
        Features.assertMalformed("/d/choice.json", () -> read(Features.inJson(file, "requires", Features.MALFORMED)));
        assertThat(EpochChoice.decode(Features.inJson(file, "later", "{\"a\":[1]}"), "file"))
                .isEqualTo(choice());
    }
}
