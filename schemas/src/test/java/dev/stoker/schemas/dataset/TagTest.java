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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TagTest {

    private static Tag tag(long version) {
        return new Tag(
                UUID.fromString("5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d"),
                "best",
                3,
                version,
                Instant.parse("2026-11-20T10:00:00.120Z"),
                "zoë@host");
    }

    private static void read(byte[] file) throws IOException {
        Tag.decode(file, "/d/best/3.json");
    }

    @Test
    void writesTheGoldenFile() throws IOException {
        Golden.check("tag-1.json", tag(7).encode());
        assertThat(Tag.decode(Golden.read("tag-1.json"), "file")).isEqualTo(tag(7));
        assertThat(Tag.file("best", 3)).isEqualTo("best/00000000000000000003.json");
    }

    @Test
    void aDeletedTagHasVersionZero() throws IOException {
        assertThat(Tag.decode(tag(0).encode(), "file").isDeleted()).isTrue();
        assertThat(tag(7).isDeleted()).isFalse();
    }

    @Test
    void everyDamageIsNoticed() {
        ByteAttacks.all(tag(7).encode(), TagTest::read);
    }

    @Test
    void aNewerFormatIsTooNewAndAWrongKeyIsCorrupt() {
        byte[] file = tag(7).encode();
        assertThatThrownBy(() -> read(ByteAttacks.reseal(ByteAttacks.replace(file, "\"format\":1", "\"format\":9"))))
                .isInstanceOf(FormatTooNewException.class);
        assertThatThrownBy(() -> read(ByteAttacks.reseal(ByteAttacks.replace(file, "\"by\":", "\"of\":"))))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("by is not text");
        assertThatThrownBy(() -> read(ByteAttacks.reseal(ByteAttacks.replace(file, "\"best\"", "\"9est\""))))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("Not the name of a tag: '9est'");
    }

    @Test
    void namesAFeatureThatItDoesNotKnowAndIgnoresOtherKeys() throws IOException {
        byte[] file = tag(7).encode();
        Features.assertNamed("/d/best/3.json", () -> read(Features.inJson(file, "requires", Features.LIST)));
        Features.assertMalformed("/d/best/3.json", () -> read(Features.inJson(file, "requires", Features.MALFORMED)));
        assertThat(Tag.decode(Features.inJson(file, "later", "{\"a\":[1]}"), "file"))
                .isEqualTo(tag(7));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "7", "7up", "a/b", "..", "a:b", "a b", "é"})
    void aNameThatCouldBeSomethingElseIsRefused(String name) {
        assertThatThrownBy(() -> Tag.checkName(name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("beginning with a letter");
    }
}
