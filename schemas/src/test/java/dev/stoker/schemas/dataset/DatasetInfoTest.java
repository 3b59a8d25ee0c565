package dev.stoker.schemas.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.attack.ByteAttacks;
import dev.stoker.schemas.attack.Features;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.crc.SelfChecksum;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class DatasetInfoTest {

    private static DatasetInfo info() {
        Map<String, Object> options = new LinkedHashMap<>();
        options.put("chunk_size", 8_388_608L);
        options.put("order", "shuffled");
        return new DatasetInfo(
                UUID.fromString("5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d"),
                "Fotos \"été\" 😀",
                Instant.parse("2026-11-20T10:00:00.120Z"),
                List.of(
                        Field.small("label", FieldType.parse("categorical")),
                        Field.nullable("weight", FieldType.parse("bfloat16")),
                        Field.payload("image", FieldType.parse("binary")),
                        Field.payload("pixels", FieldType.parse("float32[3,224,224]"))),
                Map.of("label", List.of("zebra", "café")),
                options);
    }

    private static void read(byte[] file) throws IOException {
        DatasetInfo.decode(file, "/d/_stoker/dataset.json");
    }

    private static byte[] sealed(String json) {
        return SelfChecksum.seal(json.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void writesCompactJsonInTheGivenOrder() {
        assertThat(new String(info().encode(), StandardCharsets.UTF_8))
                .matches("\\{\"self\":\"stoker\\.crc32c=[0-9a-f]{8}\",\"format\":1,"
                        + "\"id\":\"5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d\",\"name\":\"Fotos \\\\\"été\\\\\" 😀\","
                        + "\"created\":\"2026-11-20T10:00:00\\.120Z\",\"fields\":\\["
                        + "\\{\"name\":\"label\",\"type\":\"categorical\",\"nullable\":false,\"payload\":false\\},"
                        + "\\{\"name\":\"weight\",\"type\":\"bfloat16\",\"nullable\":true,\"payload\":false\\},"
                        + "\\{\"name\":\"image\",\"type\":\"binary\",\"nullable\":false,\"payload\":true\\},"
                        + "\\{\"name\":\"pixels\",\"type\":\"float32\\[3,224,224\\]\",\"nullable\":false,"
                        + "\"payload\":true\\}\\],"
                        + "\"classes\":\\{\"label\":\\[\"zebra\",\"café\"\\]\\},"
                        + "\"options\":\\{\"chunk_size\":8388608,\"order\":\"shuffled\"\\}\\}");
    }

    @Test
    void readsBackWhatWasWritten() throws IOException {
        assertThat(DatasetInfo.decode(info().encode(), "file")).isEqualTo(info());
    }

    @Test
    void declaredClassesAreThoseOfACategoricalFieldAndOccurOnce() throws IOException {
        String json = new String(info().encode(), StandardCharsets.UTF_8)
                .replaceFirst("crc32c=[0-9a-f]{8}", "crc32c=00000000");
        String declared = "{\"label\":[\"zebra\",\"café\"]}";
        for (String wrong : List.of(
                "{\"weight\":[\"zebra\"]}",
                "{\"nope\":[\"zebra\"]}",
                "{\"label\":[\"a\",\"a\"]}",
                "{\"label\":[]}",
                "{\"label\":[1]}",
                "{\"label\":\"a\"}")) {
            assertThatThrownBy(() -> read(sealed(json.replace(declared, wrong))))
                    .as(wrong)
                    .isInstanceOf(CorruptDataException.class);
        }
        assertThat(DatasetInfo.decode(sealed(json.replace("\"classes\":" + declared + ",", "")), "file")
                        .classes())
                .isEmpty();
    }

    @Test
    void writesTheGoldenFile() throws IOException {
        Golden.check("dataset-1.json", info().encode());
        assertThat(DatasetInfo.decode(Golden.read("dataset-1.json"), "file")).isEqualTo(info());
    }

    @Test
    void everyDamageIsNoticed() {
        ByteAttacks.all(info().encode(), DatasetInfoTest::read);
    }

    @Test
    void aNewerFormatIsTooNew() {
        byte[] file = ByteAttacks.reseal(ByteAttacks.replace(info().encode(), "\"format\":1", "\"format\":9"));

        assertThatThrownBy(() -> read(file))
                .isInstanceOf(FormatTooNewException.class)
                .hasMessageContaining("version 9");
    }

    @Test
    void aNewerFormatMayHaveOtherKeys() {
        assertThatThrownBy(() -> read(sealed("{\"self\":\"stoker.crc32c=00000000\",\"format\":2,\"new\":[]}")))
                .isInstanceOf(FormatTooNewException.class);
    }

    @Test
    void anotherFileIsForeign() {
        assertThatThrownBy(() -> read("{\"name\": \"my own dataset\"}".getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("/d/_stoker/dataset.json is not a Stoker dataset.json");
    }

    @Test
    void refusesWhatDoesNotBelong() {
        String good = new String(info().encode(), StandardCharsets.UTF_8)
                .replaceFirst("stoker.crc32c=[0-9a-f]{8}", "stoker.crc32c=00000000");
        for (String[] change : new String[][] {
            {"\"name\":\"Fotos", "\"title\":\"Fotos"},
            {"\"nullable\":false", "\"nullable\":0"},
            {"categorical", "kategorisch"},
            {"\"label\"", "\"key\""},
            {"\"created\":\"2026", "\"created\":\"26"},
            {"8388608", "8388608.5"},
            {"5e0c8c1e", "zzzzzzzz"},
            {"\"format\":1", "\"format\":0"},
            {"\"format\":1", "\"format\":\"1\""},
            {"\"format\":1,", "\"format\":1,\"format\":1,"}
        }) {
            assertThat(good).contains(change[0]);
            assertThatThrownBy(() -> read(sealed(good.replace(change[0], change[1]))))
                    .as(change[1])
                    .isInstanceOf(CorruptDataException.class);
        }
        assertThatThrownBy(() -> read(sealed(good + "{}"))).isInstanceOf(CorruptDataException.class);
    }

    @Test
    void smallFieldsComeFirst() {
        assertThatThrownBy(() -> new DatasetInfo(
                        UUID.randomUUID(),
                        "x",
                        Instant.EPOCH,
                        List.of(
                                Field.payload("image", FieldType.parse("binary")),
                                Field.small("label", FieldType.parse("int32"))),
                        Map.of()))
                .hasMessageContaining("Small field label comes after a payload field");
        assertThat(info().smallFields()).extracting(Field::name).containsExactly("label", "weight");
        assertThat(info().payloadFields()).extracting(Field::name).containsExactly("image", "pixels");
        assertThat(info().field("weight")).isPresent();
        assertThat(info().field("key")).isEmpty();
    }

    @Test
    void namesAFeatureThatItDoesNotKnowAndIgnoresOtherKeys() throws IOException {
        byte[] file = info().encode();
        Features.assertNamed("/d/_stoker/dataset.json", () -> read(Features.inJson(file, "requires", Features.LIST)));
        Features.assertMalformed(
                "/d/_stoker/dataset.json", () -> read(Features.inJson(file, "requires", Features.MALFORMED)));
        assertThat(DatasetInfo.decode(Features.inJson(file, "later", "{\"a\":[1]}"), "file"))
                .isEqualTo(info());
    }

    @Test
    void ignoresOtherKeysOfAField() throws IOException {
        String json = new String(info().encode(), StandardCharsets.UTF_8)
                .replace("\"name\":\"label\",", "\"name\":\"label\",\"later\":1,");
        byte[] file = ByteAttacks.reseal(json.getBytes(StandardCharsets.UTF_8));
        assertThat(DatasetInfo.decode(file, "file")).isEqualTo(info());
    }

    @Test
    void namesAnUnknownFeatureBeforeATypeThatItBrings() {
        String json = new String(info().encode(), StandardCharsets.UTF_8)
                .replace("\"type\":\"binary\"", "\"type\":\"cloud\"");
        byte[] file = Features.inJson(json.getBytes(StandardCharsets.UTF_8), "requires", Features.LIST);
        Features.assertNamed("/d/_stoker/dataset.json", () -> read(file));
    }
}
