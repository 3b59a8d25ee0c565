package dev.stoker.schemas.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.attack.ByteAttacks;
import dev.stoker.schemas.attack.Features;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ErasureTest {

    private static final String SALT = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

    private static Erasure begun() {
        return new Erasure(
                UUID.fromString("5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d"),
                "photos",
                "erase-1",
                KeyHashes.of(SALT, List.of("cat/1", "größe/2")),
                Instant.parse("2026-11-20T10:00:00.120Z"),
                "zoë@host",
                Optional.empty());
    }

    private static ErasureResult result(Optional<Instant> ended) {
        return new ErasureResult(
                new ErasureResult.Versions(7, 10, "1-5,7-9"),
                List.of(new ErasedChunk(UUID.fromString("019aa0f2-0000-7000-8000-000000000001"), 1234, 0xfedcba98)),
                List.of(UUID.fromString("019aa0f2-0000-7000-8000-000000000002")),
                List.of("_stoker/index/00000000000000000001-00000000000000000005.arrow"),
                List.of(new ErasedClass(
                        "label", 3, begun().keys().hasher().hash("ann"), "erased_00112233445566778899aabbccddeeff")),
                ended,
                List.of("exports"));
    }

    private static Erasure done() {
        return begun().with(result(Optional.of(Instant.parse("2026-11-20T10:01:00.000Z"))));
    }

    private static void read(byte[] file) throws IOException {
        Erasure.decode(file, "/d/erasure.json");
    }

    @Test
    void writesTheGoldenFile() throws IOException {
        Golden.check("erasure-1.json", done().encode());
        assertThat(Erasure.decode(Golden.read("erasure-1.json"), "file")).isEqualTo(done());
    }

    @Test
    void eachPhaseComesBackAsItWas() throws IOException {
        Erasure deleting = begun().with(result(Optional.empty()));
        for (Erasure erasure : List.of(begun(), deleting, done())) {
            assertThat(Erasure.decode(erasure.encode(), "file")).isEqualTo(erasure);
        }
        assertThat(begun().phase()).isEqualTo(Erasure.Phase.BEGUN);
        assertThat(deleting.phase()).isEqualTo(Erasure.Phase.DELETING);
        assertThat(done().phase()).isEqualTo(Erasure.Phase.DONE);
    }

    @Test
    void containsNoKeyButItsHash() {
        String text = new String(done().encode(), StandardCharsets.UTF_8);
        assertThat(text)
                .doesNotContain("cat/1", "größe")
                // As: printf %s cat/1 | openssl dgst -sha256 -mac HMAC -macopt hexkey:…
                .contains(begun().keys().hasher().hash("cat/1"));
        assertThat(begun().keys().hasher().hash("cat/1"))
                .isEqualTo("11208ae8b41cf23b0abdd7fff7d050690b2041fd7ddeb9d8c57e9e2f1f0a8a75");
    }

    @Test
    void everyDamageIsNoticed() {
        ByteAttacks.all(done().encode(), ErasureTest::read);
    }

    @Test
    void aNewerFormatIsTooNewAndOtherKeysAreIgnored() throws IOException {
        byte[] file = done().encode();
        assertThatThrownBy(() -> read(ByteAttacks.reseal(ByteAttacks.replace(file, "\"format\":1", "\"format\":9"))))
                .isInstanceOf(FormatTooNewException.class);
        Features.assertNamed("/d/erasure.json", () -> read(Features.inJson(file, "requires", Features.LIST)));
        assertThat(Erasure.decode(Features.inJson(file, "later", "{\"a\":[1]}"), "file"))
                .isEqualTo(done());
    }

    @Test
    void otherFilesAreForeignAndWrongContentIsCorrupt() {
        byte[] file = done().encode();
        assertThatThrownBy(() -> read(Golden.read("version-use-1.json"))).isInstanceOf(ForeignFileException.class);
        for (String[] change : new String[][] {
            {"\"salt\":\"00", "\"salt\":\"0x"},
            {"\"crc32c\":\"fedcba98\"", "\"crc32c\":\"fedcba9g\""},
            {"\"up_to\":7", "\"up_to\":0"},
            {"\"ended\":\"2026", "\"ended\":\"abcd"}
        }) {
            assertThatThrownBy(() -> read(ByteAttacks.reseal(ByteAttacks.replace(file, change[0], change[1]))))
                    .as(change[1])
                    .isInstanceOf(CorruptDataException.class);
        }
    }
}
