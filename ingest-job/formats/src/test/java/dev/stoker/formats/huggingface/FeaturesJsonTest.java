package dev.stoker.formats.huggingface;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.formats.write.OutputColumn;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FeaturesJsonTest {
    private static OutputColumn column(String name, String type, String... classes) {
        return new OutputColumn(name, FieldType.parse(type), true, false, List.of(classes));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "bool; bool",
                "uint16; uint16",
                "bfloat16; float32",
                "float16; float16",
                "utf8; string",
                "binary; binary",
                "date; date32",
                "time[s]; time32[ms]",
                "time[us]; time64[us]",
                "timestamp[s]; timestamp[ms]",
                "timestamp[ns,Europe/Berlin]; timestamp[ns, tz=UTC]",
                "decimal(5,2); decimal128(5, 2)",
            })
    void typesHaveTheNamesOfTheLibrary(String type, String dtype) throws Exception {
        JsonNode value = new JsonMapper().readTree("{\"dtype\": \"" + dtype + "\", \"_type\": \"Value\"}");
        JsonNode found = new JsonMapper().readTree(FeaturesJson.encode(List.of(column("x", type)), Set.of()));
        assertThat(found.at("/info/features/x")).isEqualTo(value);
    }

    @Test
    void whatIsWrittenCanBeParsed() throws Exception {
        Feature features = Feature.parse(FeaturesJson.encode(
                List.of(
                        column("image", "binary"),
                        column("label", "int64", "dog", "cat"),
                        column("tensor", "float32[2,3]"),
                        column("boxes", "int32[][]"),
                        column("tags", "utf8?[]")),
                Set.of("image")));
        assertThat(features.field("image").isFile()).isTrue();
        assertThat(features.field("label").isClassLabel()).isTrue();
        assertThat(features.field("label").names()).containsExactly("dog", "cat");
        assertThat(features.field("tensor").items().type()).isEqualTo("Value");
        assertThat(features.field("boxes").items().items().type()).isEqualTo("Value");
        assertThat(features.field("tags").type()).isEqualTo("Sequence");
    }

    @Test
    void aFieldWithoutClassesHasNumbers() throws Exception {
        OutputColumn none = new OutputColumn("label", ScalarType.INT64, true, false, List.of());
        assertThat(Feature.parse(FeaturesJson.encode(List.of(none), Set.of()))
                        .field("label")
                        .type())
                .isEqualTo("Value");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\u00ff\u00d8\u00ff\u00e0",
                "\u0089PNG\r\n\u001a\n..",
                "GIF89a",
                "BM1234\0\0\0\0",
                "RIFF1234WEBPVP8",
                "II*\0",
                "MM\0*"
            })
    void imagesAreRecognised(String content) {
        byte[] bytes = content.getBytes(StandardCharsets.ISO_8859_1);
        assertThat(ImageContent.isImage(ByteBuffer.wrap(bytes))).isTrue();
        assertThat(ImageContent.isImage(ByteBuffer.wrap(bytes, 1, bytes.length - 1)))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "RIFF1234WAVE", "BM12345678", "GIF", "II*"})
    void otherContentIsNoImage(String content) {
        assertThat(ImageContent.isImage(ByteBuffer.wrap(content.getBytes(StandardCharsets.ISO_8859_1))))
                .isFalse();
    }
}
