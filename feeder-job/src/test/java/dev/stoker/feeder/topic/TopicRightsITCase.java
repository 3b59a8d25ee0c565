package dev.stoker.feeder.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.stoker.connectors.kafka.KafkaBroker;
import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.connectors.shared.SharedFlink;
import dev.stoker.connectors.shared.SharedKafka;
import dev.stoker.feeder.RunningJobs;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.server.TestDataset;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Feeds of users with the rights that docs/kafka.md lists, and with fewer rights, at a broker with an authorizer. */
@Timeout(240)
class TopicRightsITCase {
    private static final int LANES = 4;
    /** Far less than ten restarts, or any patience with brokers that are away. */
    private static final int SECONDS = 60;

    @RegisterExtension
    static final SharedFlink CLUSTER = SharedFlink.ofParallelism(2);

    @RegisterExtension
    static final SharedKafka KAFKA = SharedKafka.withTopics("rights-");

    @TempDir
    static Path directory;

    private static KafkaBroker broker;
    private static Admin admin;
    private static TestDataset dataset;

    private TopicFeedPlan plan;

    @BeforeAll
    static void prepare() throws Exception {
        broker = SharedKafka.broker();
        admin = SharedKafka.admin();
        dataset = TestDataset.create(directory.resolve("photos"), 11, 500, 21, 34, 3, 27, 20);
    }

    @AfterEach
    void cancel(@InjectMiniCluster MiniCluster cluster) throws Exception {
        RunningJobs.cancel(cluster);
    }

    /** Someone new, by number, who may do some things. */
    private static int users;

    private static String user(String topic, String... rights) throws Exception {
        String user = SharedKafka.user(users++);
        List<AclBinding> granted = new ArrayList<>();
        for (String right : rights) {
            String[] words = right.split(" ");
            ResourceType type = ResourceType.fromString(words[0]);
            ResourcePattern what = switch (type) {
                case TOPIC -> new ResourcePattern(type, topic, PatternType.LITERAL);
                case GROUP -> new ResourcePattern(type, "trainers", PatternType.LITERAL);
                default -> new ResourcePattern(type, "stoker-", PatternType.PREFIXED);
            };
            AccessControlEntry entry = new AccessControlEntry(
                    "User:" + user, "*", AclOperation.fromString(words[1]), AclPermissionType.ALLOW);
            granted.add(new AclBinding(what, entry));
        }
        broker.grant(granted);
        return user;
    }

    private JobClient start(String topic, String user, String... options) throws Exception {
        List<String> args = new ArrayList<>(List.of(
                dataset.path().toString(),
                "--to=kafka",
                "--bootstrap=" + broker.guarded(),
                "--kafka-config=" + KafkaBroker.settings(directory.resolve(user), user, user),
                "--topic=" + topic,
                "--name=" + topic,
                "--batch-size=14",
                "--lanes=" + LANES,
                "--world-size=2",
                "--shuffle-window=64 kb",
                "--epochs=1",
                "--checkpoint-interval=200 ms"));
        for (String option : options) {
            args.removeIf(arg -> arg.startsWith(option.substring(0, option.indexOf('=') + 1)));
            args.add(option);
        }
        plan = TopicFeedPlan.of(TopicFeedOptions.parse(args.toArray(new String[0])));
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(2);
        TopicFeedJob.build(env, plan);
        return env.executeAsync();
    }

    private void requireWritten(String topic, JobClient job) throws Exception {
        job.getJobExecutionResult().get(SECONDS, TimeUnit.SECONDS);
        OrderSpec order = OrderSpec.fromJson(plan.feed().order());
        Topic.verify(dataset, order, 1, Topic.read(broker.bootstrap(), topic, LANES));
    }

    private static void create(String topic) throws Exception {
        admin.createTopics(List.of(new NewTopic(topic, LANES, (short) 1))).all().get();
    }

    @Test
    void theRightsOfTheTableSufficeAtLeastOnce() throws Exception {
        String user = user("rights-plain", "topic create", "topic read", "topic write");
        requireWritten("rights-plain", start("rights-plain", user));
    }

    @Test
    void theRightsOfTheTableSufficeWithPaceGroups() throws Exception {
        create("rights-paced");
        String user = user("rights-paced", "topic read", "topic write", "group describe");
        requireWritten("rights-paced", start("rights-paced", user, "--throttle-groups=trainers"));
    }

    @Test
    void theRightsOfTheTableSufficeExactlyOnce() throws Exception {
        create("rights-once");
        String[] rights = {"topic read", "topic write", "transactional_id write"};
        requireWritten("rights-once", start("rights-once", user("rights-once", rights), "--delivery=exactly-once"));
        // What another run of the feed left open is looked for then.
        requireWritten("rights-once", start("rights-once", user("rights-once", rights), "--delivery=exactly-once"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"topic describe,topic read", "topic describe,topic write", "topic read"})
    void endsAtOnceWithoutARightToTheTopic(String rights) throws Exception {
        String topic = "rights-less-" + rights.replaceAll("[ ,]", "-");
        create(topic);
        requireRefused(topic, rights, "at-least-once", "topic");
    }

    @ParameterizedTest
    @CsvSource({
        "'topic describe,topic read,topic write', exactly-once, transactional ids that begin with stoker-",
        "'topic describe,topic read,topic write,transactional_id describe', exactly-once, transactional ids",
        "'topic describe,topic read,topic write', at-least-once, consumer groups of --throttle-groups",
    })
    void endsAtOnceWithoutAnotherRight(String rights, String delivery, String named) throws Exception {
        String topic = "rights-less-" + (rights + delivery).replaceAll("[ ,_]", "-");
        create(topic);
        requireRefused(topic, rights, delivery, named);
    }

    private void requireRefused(String topic, String rights, String delivery, String named) throws Exception {
        String user = user(topic, rights.split(","));
        Throwable failure =
                catchThrowable(() -> start(topic, user, "--delivery=" + delivery, "--throttle-groups=trainers")
                        .getJobExecutionResult()
                        .get(SECONDS, TimeUnit.SECONDS));
        assertThat(failure).isNotNull().isNotInstanceOf(TimeoutException.class);
        assertThat(failure).hasStackTraceContaining(TopicException.class.getName() + ": topic " + topic + " at ");
        assertThat(failure).hasStackTraceContaining("docs/kafka.md lists the rights");
        assertThat(failure).hasStackTraceContaining(named);
        if (failure instanceof ExecutionException) {
            assertThat(failure).hasStackTraceContaining(SuppressRestartsException.class.getName());
        }
    }

    @Test
    void endsAtOnceWithAWrongPassword() throws Exception {
        Path wrong = KafkaBroker.settings(directory.resolve("wrong"), "user1", "not this");
        assertThatThrownBy(() -> start("rights-nothing", user("rights-nothing"), "--kafka-config=" + wrong))
                .isExactlyInstanceOf(TopicException.class)
                .hasMessageContaining("check user and password in the file of --kafka-config")
                .hasMessageNotContaining("not this");
    }
}
