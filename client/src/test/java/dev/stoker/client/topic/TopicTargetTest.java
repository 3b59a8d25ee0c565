package dev.stoker.client.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.client.errors.FeedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TopicTargetTest {
    @Test
    void aTargetIsBrokersTopicAndSettings() {
        assertThat(TopicTarget.parse("kafka://a:1,b:2/t?client.id=x&ssl.password=a%26b"))
                .isEqualTo(new TopicTarget("a:1,b:2", "t", Map.of("client.id", "x", "ssl.password", "a&b")));
        assertThat(TopicTarget.of(Optional.of("photos"), Map.of("STOKER_FEED", "kafka://a:1/t")))
                .isEmpty();
        assertThat(TopicTarget.of(Optional.empty(), Map.of("STOKER_FEED", "kafka://a:1/t")))
                .contains(new TopicTarget("a:1", "t", Map.of()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"kafka://a:1", "kafka:///t", "kafka://a:1/t/u", "kafka://a:1/", "kafka://a:1?x=y/t"})
    void whatIsNoTopicIsRefused(String text) {
        assertThatThrownBy(() -> TopicTarget.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("kafka://host:port");
    }

    @Test
    void aSecretInTheAddressIsNotRepeated() {
        assertThatThrownBy(() -> TopicTarget.parse("kafka://a:1/t?hunter2"))
                .isInstanceOf(IllegalArgumentException.class)
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("hunter2"));
        assertThat(TopicTarget.parse("kafka://a:1/t?sasl.password=hunter2").toString())
                .isEqualTo("topic t at a:1");
    }

    @Test
    void settingsComeFromTheFileAndTheAddress(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("client"), "security.protocol=SSL\nclient.id=file\n");
        Properties settings = TopicTarget.parse("kafka://a:1/t?client.id=mine")
                .clients(Map.of("STOKER_KAFKA_CONFIG", file.toString()));
        assertThat(settings)
                .containsEntry("security.protocol", "SSL")
                .containsEntry("client.id", "mine")
                .containsEntry("bootstrap.servers", "a:1");
        assertThatThrownBy(() ->
                        TopicTarget.parse("kafka://a:1/t").clients(Map.of("STOKER_KAFKA_CONFIG", directory + "/none")))
                .isInstanceOf(FeedException.class)
                .hasMessageContaining("STOKER_KAFKA_CONFIG");
    }

    @Test
    void aFileOfKafkaSettingsIsNotWaitedFor(@TempDir Path directory) throws Exception {
        Path fifo = directory.resolve("fifo");
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor())
                .isZero();
        assertThatThrownBy(() ->
                        TopicTarget.parse("kafka://a:1/t").clients(Map.of("STOKER_KAFKA_CONFIG", fifo.toString())))
                .isInstanceOf(FeedException.class)
                .hasMessageContaining("STOKER_KAFKA_CONFIG names: it is not a regular file");
    }
}
