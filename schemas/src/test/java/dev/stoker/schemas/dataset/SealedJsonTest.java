package dev.stoker.schemas.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.attack.ByteAttacks;
import dev.stoker.schemas.crc.SelfChecksum;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class SealedJsonTest {

    private static final UUID ID = UUID.fromString("5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d");
    private static final Instant TIME = Instant.parse("2026-11-20T10:00:00.120Z");
    private static final SealedJson FILES = new SealedJson("a test file", 3, 300);

    private record Content(UUID id, Instant time, long number, boolean flag, List<String> texts, List<Long> numbers) {}

    private static byte[] file() {
        return FILES.encode(json -> {
            json.put("id", ID.toString()).put("time", SealedJson.time(TIME));
            json.put("number", -7).put("flag", true);
            json.putArray("texts").add("größe").add("😀");
            json.putArray("numbers").add(1).add(2);
        });
    }

    private static Content read(byte[] file) throws IOException {
        return FILES.decode(
                file,
                "/d/x.json",
                keys -> new Content(
                        keys.id("id"),
                        keys.time("time"),
                        keys.number("number"),
                        keys.flag("flag"),
                        keys.texts("texts"),
                        keys.numbers("numbers", "one of the numbers")));
    }

    private static byte[] changed(String from, String to) {
        String text = new String(file(), StandardCharsets.UTF_8)
                .replaceFirst("stoker\\.crc32c=[0-9a-f]{8}", SelfChecksum.PLACEHOLDER);
        assertThat(text).contains(from);
        return SelfChecksum.seal(text.replace(from, to).getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void beginsWithChecksumAndFormatAndKeepsTheOrderOfTheKeys() throws IOException {
        assertThat(new String(file(), StandardCharsets.UTF_8))
                .matches("\\{\"self\":\"stoker\\.crc32c=[0-9a-f]{8}\",\"format\":3,\"id\":\"" + ID
                        + "\",\"time\":\"2026-11-20T10:00:00\\.120Z\",\"number\":-7,\"flag\":true,"
                        + "\"texts\":\\[\"größe\",\"😀\"],\"numbers\":\\[1,2]}");
        assertThat(read(file())).isEqualTo(new Content(ID, TIME, -7, true, List.of("größe", "😀"), List.of(1L, 2L)));
    }

    @Test
    void everyDamageIsNoticed() {
        ByteAttacks.all(file(), SealedJsonTest::read);
    }

    @Test
    void namesTheKeyWhoseValueIsMissingOrHasAnotherType() {
        for (String[] change : new String[][] {
            {"\"id\":", "\"ID\":", "id is not text"},
            {"\"time\":\"2026", "\"time\":\"in 26", "'in 26-11-20T10:00:00.120Z'"},
            {"\"number\":-7", "\"number\":-7.0", "number is not a number"},
            {"\"flag\":true", "\"flag\":1", "flag is neither true nor false"},
            {"\"texts\":[", "\"texts\":[1,", "texts contains something that is not text"},
            {"\"numbers\":[1,2]", "\"numbers\":12", "numbers is not a list"},
            {"\"numbers\":[1,", "\"numbers\":[\"1\",", "one of the numbers is not a number"},
            {"\"format\":3", "\"format\":2", "format is not 3"},
            {"\"flag\":true", "\"flag\":true,\"flag\":true", "Duplicate field 'flag'"},
        }) {
            assertThatThrownBy(() -> read(changed(change[0], change[1])))
                    .as(change[1])
                    .isInstanceOf(CorruptDataException.class)
                    .hasMessageStartingWith("/d/x.json is corrupt: ")
                    .hasMessageContaining(change[2]);
        }
    }

    @Test
    void namesTheLimitOfAFileThatIsTooLong() {
        byte[] file = changed("größe", "g".repeat(300));
        assertThatThrownBy(() -> read(file))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("its length")
                .hasMessageContaining("at most 300");
    }

    @Test
    void aNewerFormatIsTooNewAndAFileThatBeginsDifferentlyIsForeign() {
        assertThatThrownBy(() -> read(changed("\"format\":3", "\"format\":4")))
                .isInstanceOf(FormatTooNewException.class)
                .hasMessageContaining("/d/x.json");
        assertThatThrownBy(() -> read("{\"name\": \"another file\"}".getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("/d/x.json is not a test file");
    }

    @Test
    void aTimeWithPartsOfAMillisecondIsRefused() {
        SealedJson.requireMillis("The time", TIME);
        assertThatThrownBy(() -> SealedJson.requireMillis("The time", TIME.plusNanos(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("The time has parts of a millisecond: 2026-11-20T10:00:00.120000001Z");
    }
}
