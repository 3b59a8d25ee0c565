package dev.stoker.ingest.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.kafka.KafkaBroker;
import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.connectors.shared.SharedKafka;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.ingest.spec.IngestListener;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Ingests of a user with the rights that docs/kafka.md lists, or with fewer, on a broker with an authorizer. */
@Timeout(120)
class TopicRightsITCase {

    private static final String USER = SharedKafka.user(0);

    @RegisterExtension
    static final SharedKafka KAFKA = SharedKafka.withTopics("right-");

    @TempDir
    static Path directory;

    private static KafkaBroker broker;
    private static Path settings;

    @BeforeAll
    static void startBroker() throws Exception {
        broker = SharedKafka.broker();
        settings = KafkaBroker.settings(directory.resolve("reader"), USER, USER);
    }

    private static AclBinding right(String topic, AclOperation operation) {
        return new AclBinding(
                new ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL),
                new AccessControlEntry("User:" + USER, "*", operation, AclPermissionType.ALLOW));
    }

    private static Topic topic(String name, AclOperation... operations) throws Exception {
        Topic topic = Topic.create(broker, name, 2);
        topic.send(List.of(topic.record(0, null, "a"), topic.record(1, null, "b")));
        broker.grant(
                Stream.of(operations).map(operation -> right(name, operation)).toList());
        return topic;
    }

    private static TopicIngestResult ingest(String topic, IngestListener<TopicIngestProgress> listener, String... more)
            throws Exception {
        List<String> args =
                new ArrayList<>(List.of("--value=raw", "--commit-interval=200 ms", "--kafka-config=" + settings));
        args.addAll(List.of(more));
        TopicIngestOptions options = Streams.options(
                "kafka://" + broker.guarded() + "/" + topic,
                directory.resolve(topic + "-data"),
                args.toArray(new String[0]));
        try (JobLauncher job = TopicIngestJob.embedded(OptionalInt.of(2))) {
            return TopicIngestJob.run(options, job, listener, () -> false);
        }
    }

    @Test
    void theRightsOfTheTableSuffice() throws Exception {
        topic("right-enough", AclOperation.READ);
        assertThat(ingest("right-enough", IngestListener.silent(), "--until=latest")
                        .samples())
                .isEqualTo(2);
    }

    @Test
    void isRefusedWithoutARight() throws Exception {
        topic("right-hidden");
        assertThatThrownBy(() -> ingest("right-hidden", IngestListener.silent()))
                .isExactlyInstanceOf(TopicException.class)
                .hasMessageContaining("allow the user of --kafka-config Describe and Read on the topic");
    }

    @Test
    @Tag("full-feeds")
    void endsAtOnceWhenTheRightIsTaken() throws Exception {
        topic("right-taken", AclOperation.READ);
        AtomicBoolean isTaken = new AtomicBoolean();
        IngestListener<TopicIngestProgress> takes = new IngestListener<>() {
            @Override
            public void progressed(TopicIngestProgress progress) {
                if (progress.versions() >= 1 && !isTaken.getAndSet(true)) {
                    take("right-taken");
                }
            }
        };
        assertThatThrownBy(() -> ingest("right-taken", takes))
                .isInstanceOf(IngestFailedException.class)
                .hasMessageContaining("the brokers refuse a request of the job")
                .hasMessageContaining("Describe and Read on the topic");
        assertThat(isTaken).isTrue();
    }

    private static void take(String topic) {
        AclBindingFilter all = right(topic, AclOperation.READ).toFilter();
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrap()))) {
            admin.deleteAcls(List.of(all)).all().get();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
