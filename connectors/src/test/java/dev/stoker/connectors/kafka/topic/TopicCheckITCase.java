package dev.stoker.connectors.kafka.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.kafka.KafkaBroker;
import dev.stoker.connectors.kafka.KafkaTarget;
import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.connectors.shared.SharedKafka;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Topics that are created and topics that are refused, at a real broker. */
@Timeout(180)
class TopicCheckITCase {
    private static final TopicNeeds NEEDS = new TopicNeeds(4, 50_000_000, Duration.ofHours(2), -1);

    @RegisterExtension
    static final SharedKafka KAFKA = SharedKafka.withTopics("check-");

    private static KafkaBroker broker;
    private static Admin admin;

    @BeforeAll
    static void startBroker() throws Exception {
        broker = SharedKafka.broker();
        admin = SharedKafka.admin();
    }

    private static KafkaTarget target(String topic) {
        return new KafkaTarget(broker.bootstrap(), topic, null, false, 900_000, 917_504);
    }

    private static void create(String topic, int partitions, Map<String, String> settings) throws Exception {
        admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1).configs(settings)))
                .all()
                .get();
    }

    private static String ensure(KafkaTarget target) throws Exception {
        try (TopicCheck check = new TopicCheck(target)) {
            return check.ensure(NEEDS);
        }
    }

    @Test
    void createsATopicThatItThenAccepts() throws Exception {
        String id = ensure(target("check-fresh"));
        assertThat(ensure(target("check-fresh"))).isEqualTo(id);
        assertThat(admin.describeTopics(List.of("check-fresh"))
                        .allTopicNames()
                        .get()
                        .get("check-fresh")
                        .partitions())
                .hasSize(4);
    }

    @Test
    void makesRoomForLargeRecordsInATopicThatItCreates() throws Exception {
        KafkaTarget large = new KafkaTarget(broker.bootstrap(), "check-large", null, false, 900_000, 20 << 20);
        ensure(large);
        assertThatCode(() -> ensure(large)).doesNotThrowAnyException();
    }

    @Test
    void acceptsATopicWithTheBrokersDefaults() throws Exception {
        create("check-plain", 4, Map.of());
        assertThatCode(() -> ensure(target("check-plain"))).doesNotThrowAnyException();
    }

    @Test
    void refusesAnotherNumberOfPartitions() throws Exception {
        create("check-three", 3, Map.of());
        assertThatThrownBy(() -> ensure(target("check-three")))
                .isInstanceOf(TopicException.class)
                .hasMessageContaining("has 3 partitions, but the feed has 4 lanes")
                .hasMessageContaining("--lanes 3");
    }

    @ParameterizedTest
    @CsvSource({
        "cleanup.policy, compact, cleanup.policy=delete",
        "cleanup.policy, 'compact,delete', cleanup.policy=delete",
        "max.message.bytes, 500000, max.message.bytes=933888",
        "retention.ms, 7199999, retention.ms=7200000",
        "retention.bytes, 49999999, retention.bytes=50000000",
        "compression.type, lz4, compression.type=producer",
    })
    void refusesASettingAndNamesTheRightOne(String name, String value, String right) throws Exception {
        String topic = "check-wrong-" + (name + value).replaceAll("[^a-z0-9]", "-");
        create(topic, 4, Map.of(name, value));
        assertThatThrownBy(() -> ensure(target(topic)))
                .isInstanceOf(TopicException.class)
                .hasMessageContaining(topic)
                .hasMessageContaining(name + " is " + value)
                .hasMessageContaining("set " + right);
    }

    @Test
    void refusesTransactionsThatTheBrokersWouldNotLetLastSoLong() {
        KafkaTarget slow = new KafkaTarget(broker.bootstrap(), "check-fresh", null, true, 900_001, 917_504);
        assertThatThrownBy(() -> ensure(slow))
                .isInstanceOf(TopicException.class)
                .hasMessageContaining("transaction.max.timeout.ms is 900000")
                .hasMessageContaining("--transaction-timeout 900s");
    }
}
