package dev.stoker.feeder.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.kafka.KafkaBroker;
import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.connectors.shared.SharedKafka;
import dev.stoker.feeder.RunningJobs;
import dev.stoker.feeder.source.reader.StopSignal;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.kafka.RecordPosition;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.testing.Cells;
import dev.stoker.server.TestDataset;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests a feed to a topic as a Flink job, with a real broker that is killed at times. */
@Timeout(240)
class TopicFeedJobITCase {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(new MiniClusterResourceConfiguration.Builder()
            .setNumberTaskManagers(2)
            .setNumberSlotsPerTaskManager(1)
            .build());

    @RegisterExtension
    static final SharedKafka KAFKA = SharedKafka.withTopics("feed-");

    @TempDir
    static Path directory;

    private static KafkaBroker broker;
    private static Admin admin;
    private static TestDataset dataset;

    private TopicFeedPlan arguments;

    @BeforeAll
    static void prepare() throws Exception {
        useSharedBroker();
        dataset = TestDataset.create(
                directory.resolve("photos"), 11, 2000, 90, 140, 30, 110, 80, 120, 10, 100, 130, 70, 60, 50);
    }

    private static void useSharedBroker() {
        broker = SharedKafka.broker();
        admin = SharedKafka.admin();
    }

    @AfterEach
    void forget(@InjectMiniCluster MiniCluster cluster) throws Exception {
        RunningJobs.cancel(cluster);
        if (arguments != null) {
            StopSignal.clear(arguments.feed().id());
        }
    }

    private TopicFeedPlan arguments(String topic, String... options) throws IOException {
        return arguments(dataset, topic, options);
    }

    private static TopicFeedPlan arguments(TestDataset of, String topic, String... options) throws IOException {
        List<String> args = new ArrayList<>(List.of(
                of.path().toString(),
                "--to=kafka",
                "--bootstrap=" + broker.bootstrap(),
                "--topic=" + topic,
                "--name=" + topic,
                "--batch-size=8",
                "--lanes=4",
                "--world-size=2",
                "--shuffle-window=64 kb",
                "--seed=5",
                "--parallelism=2"));
        args.addAll(Arrays.asList(options));
        if (args.stream().noneMatch(option -> option.startsWith("--checkpoint-interval="))) {
            args.add("--checkpoint-interval=300 ms");
        }
        return TopicFeedPlan.of(TopicFeedOptions.parse(args.toArray(new String[0])));
    }

    private JobClient start(String topic, String... options) throws Exception {
        return start(arguments(topic, options));
    }

    private JobClient start(TopicFeedPlan with) throws Exception {
        arguments = with;
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(2);
        TopicFeedJob.build(env, arguments);
        // A stalled checkpoint would keep the topic back until its timeout.
        assertThat(env.getCheckpointConfig().getCheckpointTimeout()).isEqualTo(60_000);
        return env.executeAsync();
    }

    private void verify(String topic, int epochs) throws IOException {
        OrderSpec order = OrderSpec.fromJson(arguments.feed().order());
        Topic.verify(dataset, order, epochs, Topic.read(broker.bootstrap(), topic, 4));
    }

    private static void await(JobClient job) throws Exception {
        job.getJobExecutionResult().get(200, TimeUnit.SECONDS);
    }

    private static long records(String topic) throws Exception {
        long sum = 0;
        for (int partition = 0; partition < 4; partition++) {
            sum += end(topic, partition);
        }
        return sum;
    }

    private static long end(String topic, int partition) throws Exception {
        TopicPartition place = new TopicPartition(topic, partition);
        ListOffsetsResult result = admin.listOffsets(Map.of(place, OffsetSpec.latest()));
        return result.partitionResult(place).get().offset();
    }

    @ParameterizedTest
    @ValueSource(strings = {"at-least-once", "exactly-once"})
    void writesEverySampleOnceAndInOrder(String delivery) throws Exception {
        await(start("feed-plain-" + delivery, "--epochs=2", "--delivery=" + delivery));
        verify("feed-plain-" + delivery, 2);
    }

    @Test
    void writesLargeBatchesInParts() throws Exception {
        await(start("feed-parts", "--epochs=1", "--max-record-bytes=6000", "--batch-size=12"));
        verify("feed-parts", 1);
        assertThat(Topic.read(broker.bootstrap(), "feed-parts", 4).get(1))
                .anyMatch(record -> record.header().parts() > 1);
    }

    @Test
    void namesTheSampleThatFitsInNoRecord() throws Exception {
        JobClient job = start("feed-tiny", "--epochs=1", "--max-record-bytes=3000");
        assertThatThrownBy(() -> await(job))
                .rootCause()
                .hasMessageContaining("sample c")
                .hasMessageContaining("--max-record-bytes");
    }

    private static Stream<String> deliveries() {
        return Cells.drawn(Stream.of("at-least-once", "exactly-once"));
    }

    @ParameterizedTest
    @MethodSource("deliveries")
    void goesOnAfterATaskManagerIsLost(String delivery, @InjectMiniCluster MiniCluster cluster) throws Exception {
        String topic = "feed-lost-task-manager-" + delivery;
        JobClient job = start(
                topic, "--epochs=40", "--delivery=" + delivery, "--throttle-groups=trainers", "--epochs-ahead=15");
        awaitRecords(topic, 40);
        cluster.terminateTaskManager(0).get();
        cluster.startTaskManager();
        commitEverything(topic, job);
        verify(topic, 40);
    }

    @Test
    @Tag("full-feeds")
    void goesOnAfterTheBrokerIsKilled() throws Exception {
        try (KafkaBroker killed = KafkaBroker.start(directory.resolve("broker"));
                Admin client = Admin.create(
                        Map.of("bootstrap.servers", killed.bootstrap(), "reconnect.backoff.max.ms", "200"))) {
            broker = killed;
            admin = client;
            JobClient job =
                    start("feed-killed-broker", "--epochs=40", "--throttle-groups=trainers", "--epochs-ahead=15");
            awaitRecords("feed-killed-broker", 40);
            broker.kill();
            broker.start();
            commitEverything("feed-killed-broker", job);
            verify("feed-killed-broker", 40);
        } finally {
            useSharedBroker();
        }
    }

    @ParameterizedTest
    @MethodSource("deliveries")
    void staysNearTheSlowestGroupAndTakesCheckpointsMeanwhile(String delivery, @InjectMiniCluster MiniCluster cluster)
            throws Exception {
        // Transactions are open for longer than the interval between two checks of the consumers.
        String topic = "feed-paced-" + delivery;
        JobClient job = start(
                topic,
                "--epochs=20", // without a throttle, an endless feed would fill the disk
                "--throttle-groups=trainers",
                "--throttle-groups=evaluation",
                "--epochs-ahead=1",
                "--delivery=" + delivery,
                "--checkpoint-interval=1500 ms");
        // Two epochs: the first one, which no trainer has read, and the next one.
        until(
                "the end of epoch 1",
                () -> Topic.read(broker.bootstrap(), topic, 4).values().stream()
                        .allMatch(lane -> !lane.isEmpty()
                                && lane.get(lane.size() - 1).header().position().equals(RecordPosition.end(1))));
        // One group has read everything, and the other one has not started.
        commitEnd(topic, "trainers");
        long standing = records(topic);
        TopicProgress progress = TopicProgress.of(arguments.feed().id());
        until(
                "every lane waits",
                () -> progress.snapshot().lanes().stream()
                        .allMatch(lane -> lane.epoch() == 2 && lane.waitsFor().equals("evaluation")));
        long checkpoints = checkpoints(cluster, job);
        until("two more checkpoints", () -> checkpoints(cluster, job) >= checkpoints + 2);
        assertThat(records(topic)).isEqualTo(standing);
        commitEnd(topic, "evaluation");
        awaitRecords(topic, standing + 1);
        StopSignal.of(arguments.feed().id()).request();
        await(job);
    }

    private static long checkpoints(MiniCluster cluster, JobClient job) throws Exception {
        return cluster.getExecutionGraph(job.getJobID())
                .get()
                .getCheckpointStatsSnapshot()
                .getCounts()
                .getNumberOfCompletedCheckpoints();
    }

    @Test
    @Tag("full-feeds")
    void endsWithTheNameOfATopicThatIsDeletedUnderIt() throws Exception {
        Path impatient = Files.writeString(
                directory.resolve("impatient"),
                "max.block.ms=1000\nrequest.timeout.ms=1000\ndelivery.timeout.ms=2000\n");
        JobClient job = start("feed-deleted", "--throttle-groups=trainers", "--kafka-config=" + impatient);
        awaitRecords("feed-deleted", 4);
        admin.deleteTopics(List.of("feed-deleted")).all().get();
        assertThatThrownBy(() -> await(job))
                .rootCause()
                .isInstanceOf(StokerException.class)
                .hasMessageContaining("topic feed-deleted at " + broker.bootstrap() + " no longer exists");
    }

    @Test
    void fencesAZombieAndDropsWhatItHasNotCommitted() throws Exception {
        TopicFeedPlan later = arguments("feed-zombie", "--epochs=1", "--delivery=exactly-once");
        admin.createTopics(List.of(new NewTopic("feed-zombie", 4, (short) 1)))
                .all()
                .get();
        // A transaction of a task of the feed that was interrupted in the middle of the transaction.
        Map<String, Object> settings = Map.of(
                "bootstrap.servers",
                broker.bootstrap(),
                "transactional.id",
                "stoker-" + later.feed().id() + "-1-1",
                "transaction.timeout.ms",
                "600000");
        try (KafkaProducer<byte[], byte[]> zombie =
                new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            zombie.initTransactions();
            zombie.beginTransaction();
            zombie.send(new ProducerRecord<>("feed-zombie", 2, null, new byte[] {1}))
                    .get();
            await(start("feed-zombie", "--epochs=1", "--delivery=exactly-once"));
            verify("feed-zombie", 1);
            assertThatThrownBy(zombie::commitTransaction).isInstanceOf(KafkaException.class);
            verify("feed-zombie", 1);
        }
    }

    @Test
    void goesOnWithTheEpochThatATopicEndsIn() throws Exception {
        await(start("feed-again", "--epochs=1"));
        await(start("feed-again", "--epochs=3"));
        verify("feed-again", 3);
    }

    @Test
    @Tag("full-feeds")
    void eachEpochTakesTheNewestVersionAndKeepsItWhenTheFeedIsStartedAgain() throws Exception {
        TestDataset growing = TestDataset.create(directory.resolve("growing"), 3, 500, 60, 70, 20, 50);
        String[] options = {"--follow", "--throttle-groups=trainers", "--epochs=3", "--epochs-ahead=0"};
        TopicFeedPlan first = arguments(growing, "feed-followed", options);
        JobClient job = start(first);
        until("the end of epoch 0", () -> lanesAt("feed-followed", RecordPosition.end(0)) == 4);
        growing.append(4, 500, 30, 80, 10, 10, 90);
        // Two lanes begin epoch 1, and the other two wait for their consumers.
        commitEnd("feed-followed", "trainers", 0, 1);
        until("epoch 1 in two lanes", () -> lanesAt("feed-followed", RecordPosition.end(1)) == 2);
        job.cancel().get();
        until("the feed has ended", () -> job.getJobExecutionResult().isDone());
        assertThat(lanesAt("feed-followed", RecordPosition.end(0))).isEqualTo(2);
        growing.append(5, 500, 33, 44);
        // Without state, and with more chunks than before.
        TopicFeedPlan again = arguments(growing, "feed-followed", options);
        JobClient later = start(again);
        commitEverything("feed-followed", later);
        Topic.verify(
                growing,
                OrderSpec.fromJson(first.feed().order()),
                List.of(1L, 2L, 3L),
                Topic.read(broker.bootstrap(), "feed-followed", 4));
        assertThatThrownBy(() -> start(arguments(growing, "feed-followed", "--follow", "--epochs=9", "--name=else")))
                .isInstanceOf(TopicException.class)
                .hasMessageContaining("holds another feed");
    }

    /** Returns the number of lanes whose last record has this position. */
    private static long lanesAt(String topic, RecordPosition position) throws Exception {
        return Topic.read(broker.bootstrap(), topic, 4).values().stream()
                .filter(lane -> !lane.isEmpty()
                        && lane.get(lane.size() - 1).header().position().equals(position))
                .count();
    }

    @Test
    void refusesATopicOfAnotherFeed() throws Exception {
        await(start("feed-taken", "--epochs=1"));
        assertThatThrownBy(() -> start("feed-taken", "--epochs=1", "--seed=6"))
                .isInstanceOf(TopicException.class)
                .hasMessageContaining("holds another feed")
                .hasMessageContaining("--topic");
    }

    /** A condition that may query brokers and jobs. */
    private interface Condition {
        boolean holds() throws Exception;
    }

    private static void until(String what, Condition condition) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
        while (!condition.holds()) {
            assertThat(System.nanoTime()).as(what).isLessThan(deadline);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
        }
    }

    private static void awaitRecords(String topic, long count) throws Exception {
        until(count + " records in " + topic, () -> records(topic) >= count);
    }

    private static void commitEnd(String topic, String group) throws Exception {
        commitEnd(topic, group, 0, 1, 2, 3);
    }

    private static void commitEnd(String topic, String group, int... partitions) throws Exception {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (int partition : partitions) {
            offsets.put(new TopicPartition(topic, partition), new OffsetAndMetadata(end(topic, partition)));
        }
        admin.alterConsumerGroupOffsets(group, offsets).all().get();
    }

    /** Simulates consumers that keep up until the job is done. */
    private static void commitEverything(String topic, JobClient job) throws Exception {
        until("the feed ends", () -> {
            commitEnd(topic, "trainers");
            return job.getJobExecutionResult().isDone();
        });
        await(job);
    }
}
