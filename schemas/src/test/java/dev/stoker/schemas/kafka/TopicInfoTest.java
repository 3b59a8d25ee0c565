package dev.stoker.schemas.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.attack.Features;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.ShufflePolicy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What control records say. */
class TopicInfoTest {
    private static final TopicInfo INFO = new TopicInfo(
            UUID.fromString("6f9619ff-8b86-5d01-b42d-00cf4fc964ff"),
            "photos",
            "train",
            UUID.fromString("5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d"),
            "photos",
            12,
            "train",
            new Fingerprint("00112233445566778899aabbccddeeff"),
            new OrderSpec(5, 8, 2, 1 << 20, ShufflePolicy.WINDOW, LaneOrder.FIXED),
            List.of(Field.small("label", ScalarType.CATEGORICAL), Field.payload("image", FieldType.parse("binary"))),
            Map.of("label", List.of("ant", "bee")),
            List.of(30L, 27L),
            OptionalLong.of(9),
            917_504);

    private static byte[] value(TopicInfo info) {
        return info.value(1, 4, EpochCounts.NONE);
    }

    @Test
    void oneVersionIsSaidForAllEpochs() throws IOException {
        Golden.check("kafka-1-begin-pinned.json", value(INFO));
        TopicInfo read = TopicInfo.read(value(INFO), "here");
        assertThat(read).isEqualTo(INFO);
        assertThat(read.follows()).isFalse();
    }

    @Test
    void whereEachEpochHasAVersionItIsSaidForThatEpoch() throws IOException {
        TopicInfo fifth = INFO.in(5);
        Golden.check("kafka-1-begin-follows.json", value(fifth));
        TopicInfo read = TopicInfo.read(value(fifth), "here");
        assertThat(read).isEqualTo(fifth);
        assertThat(read.follows()).isTrue();
        assertThat(read.epoch()).hasValue(5);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "null", "\"5\"", "5.5"})
    void anEpochThatIsNoneIsRefused(String epoch) {
        String text = new String(value(INFO.in(5)), StandardCharsets.UTF_8)
                .replace("\"follows\":true,\"epoch\":5", "\"follows\":true,\"epoch\":" + epoch);
        assertThatThrownBy(() -> TopicInfo.read(text.getBytes(StandardCharsets.UTF_8), "here"))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("here is corrupt");
    }

    @Test
    void namesAFeatureThatItDoesNotKnowAndIgnoresOtherKeys() throws IOException {
        Features.assertNamed("here", () -> TopicInfo.read(with("requires", Features.LIST), "here"));
        Features.assertMalformed("here", () -> TopicInfo.read(with("requires", Features.MALFORMED), "here"));
        assertThat(TopicInfo.read(with("later", "{}"), "here")).isEqualTo(INFO);
    }

    private static byte[] with(String key, String json) {
        return new String(value(INFO), StandardCharsets.UTF_8)
                .replaceFirst("\\{\"stoker\":1,", "{\"stoker\":1,\"" + key + "\":" + json + ",")
                .getBytes(StandardCharsets.UTF_8);
    }
}
