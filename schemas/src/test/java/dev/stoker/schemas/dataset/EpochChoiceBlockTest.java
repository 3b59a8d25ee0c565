package dev.stoker.schemas.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.attack.ByteAttacks;
import dev.stoker.schemas.attack.Features;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.FormatTooNewException;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class EpochChoiceBlockTest {

    private static final EpochChoice.Pass PASS =
            new EpochChoice.Pass(UUID.fromString("6f1d2c3b-4a59-5687-9a53-0d6f1a2b3c4d"), "train", "été/\"1\" 😀");

    private static EpochChoiceBlock block() {
        List<Long> versions = LongStream.range(0, EpochChoiceBlock.EPOCHS)
                .map(epoch -> 7 + epoch / 5)
                .boxed()
                .toList();
        return new EpochChoiceBlock(PASS, 512, UUID.fromString("5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d"), versions);
    }

    private static void read(byte[] file) throws IOException {
        EpochChoiceBlock.decode(file, "/d/block.json");
    }

    private static byte[] changed(String from, String to) {
        return ByteAttacks.reseal(ByteAttacks.replace(block().encode(), from, to));
    }

    @Test
    void writesTheGoldenFile() throws IOException {
        Golden.check("epoch-choice-block-1.json", block().encode());
        assertThat(EpochChoiceBlock.decode(Golden.read("epoch-choice-block-1.json"), "file"))
                .isEqualTo(block());
    }

    @Test
    void hasTheVersionOfEachOfItsEpochs() {
        assertThat(block().version(512)).isEqualTo(7);
        assertThat(block().version(575)).isEqualTo(19);
        assertThat(EpochChoiceBlock.firstOf(575)).isEqualTo(512);
        assertThat(EpochChoiceBlock.firstOf(Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE - 63);
        assertThat(EpochChoiceBlock.name(PASS, 512))
                .isEqualTo(PASS.folder() + "00000000000000000512-00000000000000000575.json");
    }

    @Test
    void everyDamageIsNoticed() {
        ByteAttacks.all(block().encode(), EpochChoiceBlockTest::read);
    }

    @Test
    void aNewerFormatIsTooNewAndAnImpossibleBlockIsCorrupt() {
        assertThatThrownBy(() -> read(changed("\"format\":1", "\"format\":9")))
                .isInstanceOf(FormatTooNewException.class);
        assertThatThrownBy(() -> read(changed("\"first\":512", "\"first\":513")))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("epoch 513");
        assertThatThrownBy(() -> read(changed("\"versions\":[7,7", "\"versions\":[7,0")))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("expected 64 versions from 1");
        assertThatThrownBy(() -> read(changed("\"versions\":[7,7,", "\"versions\":[777,")))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("63 versions");
    }

    @Test
    void namesAFeatureThatItDoesNotKnowAndIgnoresOtherKeys() throws IOException {
        byte[] file = block().encode();
        Features.assertNamed("/d/block.json", () -> read(Features.inJson(file, "requires", Features.LIST)));
        Features.assertMalformed("/d/block.json", () -> read(Features.inJson(file, "requires", Features.MALFORMED)));
        assertThat(EpochChoiceBlock.decode(Features.inJson(file, "later", "{\"a\":[1]}"), "file"))
                .isEqualTo(block());
    }
}
