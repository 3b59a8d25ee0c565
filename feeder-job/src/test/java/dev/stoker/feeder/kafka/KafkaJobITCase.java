package dev.stoker.feeder.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.kafka.KafkaBroker;
import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.feeder.node.TestDataset;
import dev.stoker.feeder.source.reader.StopSignal;
import dev.stoker.schemas.order.OrderSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.client.JobStatusMessage;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A feed to a topic as a Flink job, at a real broker that is killed at times. */
@Timeout(240)
class KafkaJobITCase {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(new MiniClusterResourceConfiguration.Builder()
            .setNumberTaskManagers(2)
            .setNumberSlotsPerTaskManager(1)
            .build());

    @TempDir
    static Path directory;

    private static KafkaBroker broker;
    private static TestDataset dataset;

    private KafkaArguments arguments;

    @BeforeAll
    static void prepare() throws Exception {
        broker = KafkaBroker.start(directory.resolve("broker"));
        dataset = TestDataset.create(
                directory.resolve("photos"), 11, 2000, 90, 140, 30, 110, 80, 120, 10, 100, 130, 70, 60, 50);
    }

    @AfterAll
    static void stopBroker() {
        broker.close();
    }

    @AfterEach
    void forget(@InjectMiniCluster MiniCluster cluster) throws Exception {
        for (JobStatusMessage job : cluster.listJobs().get()) {
            if (!job.getJobState().isGloballyTerminalState()) {
                cluster.cancelJob(job.getJobId()).get();
                cluster.requestJobResult(job.getJobId()).get();
            }
        }
        if (arguments != null) {
            StopSignal.clear(arguments.plan().feed().id());
        }
    }

    private KafkaArguments arguments(String topic, String... options) throws IOException {
        List<String> args = new ArrayList<>(List.of(
                dataset.path().toString(),
                "--to=kafka",
                "--bootstrap=" + broker.bootstrap(),
                "--topic=" + topic,
                "--name=" + topic,
                "--batch-size=8",
                "--lanes=4",
                "--world-size=2",
                "--shuffle-window=64 kb",
                "--seed=5",
                "--checkpoint-interval=300 ms",
                "--parallelism=2"));
        args.addAll(Arrays.asList(options));
        return KafkaArguments.parse(args.toArray(new String[0]));
    }

    private JobClient start(String topic, String... options) throws Exception {
        arguments = arguments(topic, options);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        KafkaJob.build(env, arguments.plan(), arguments.feed().checkpointInterval(), 2);
        return env.executeAsync();
    }

    private void verify(String topic, int epochs) throws IOException {
        OrderSpec order = OrderSpec.fromJson(arguments.plan().feed().order());
        Topic.verify(dataset, order, epochs, Topic.read(broker.bootstrap(), topic, 4));
    }

    private static void await(JobClient job) throws Exception {
        job.getJobExecutionResult().get(200, TimeUnit.SECONDS);
    }

    private static long records(String topic) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrap()))) {
            long sum = 0;
            for (int partition = 0; partition < 4; partition++) {
                sum += end(admin, topic, partition);
            }
            return sum;
        }
    }

    private static long end(Admin admin, String topic, int partition) throws Exception {
        TopicPartition place = new TopicPartition(topic, partition);
        ListOffsetsResult result = admin.listOffsets(Map.of(place, OffsetSpec.latest()));
        return result.partitionResult(place).get().offset();
    }

    @ParameterizedTest
    @ValueSource(strings = {"at-least-once", "exactly-once"})
    void writesEverySampleOnceAndInOrder(String delivery) throws Exception {
        await(start("plain-" + delivery, "--epochs=2", "--delivery=" + delivery));
        verify("plain-" + delivery, 2);
    }

    @Test
    void writesLargeBatchesInParts() throws Exception {
        await(start("parts", "--epochs=1", "--max-record-bytes=6000", "--batch-size=12"));
        verify("parts", 1);
        assertThat(Topic.read(broker.bootstrap(), "parts", 4).get(1))
                .anyMatch(record -> record.header().parts() > 1);
    }

    @Test
    void namesTheSampleThatFitsInNoRecord() throws Exception {
        JobClient job = start("tiny", "--epochs=1", "--max-record-bytes=3000");
        assertThatThrownBy(() -> await(job))
                .rootCause()
                .hasMessageContaining("sample c")
                .hasMessageContaining("--max-record-bytes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"at-least-once", "exactly-once"})
    void goesOnAfterATaskManagerIsLost(String delivery, @InjectMiniCluster MiniCluster cluster) throws Exception {
        String topic = "lost-task-manager-" + delivery;
        JobClient job =
                start(topic, "--epochs=40", "--delivery=" + delivery, "--pace-groups=trainers", "--epochs-ahead=15");
        awaitRecords(topic, 40);
        cluster.terminateTaskManager(0).get();
        cluster.startTaskManager();
        commitEverything(topic, job);
        verify(topic, 40);
    }

    @Test
    void goesOnAfterTheBrokerIsKilled() throws Exception {
        JobClient job = start("killed-broker", "--epochs=40", "--pace-groups=trainers", "--epochs-ahead=15");
        awaitRecords("killed-broker", 40);
        broker.kill();
        broker.start();
        commitEverything("killed-broker", job);
        verify("killed-broker", 40);
    }

    @Test
    void staysNearTheSlowestGroupAndTakesCheckpointsMeanwhile() throws Exception {
        JobClient job = start("paced", "--pace-groups=trainers;evaluation", "--epochs-ahead=1");
        awaitRecords("paced", 4);
        commitEnd("paced", "trainers");
        // Two epochs: the one that nobody of the other group has read, and the one ahead of it.
        awaitStandstill("paced", job);
        Map<Integer, List<Topic.Found>> records = Topic.read(broker.bootstrap(), "paced", 4);
        records.values()
                .forEach(lane ->
                        assertThat(lane.get(lane.size() - 1).header().epoch()).isEqualTo(1));
        long before = records("paced");
        commitEnd("paced", "evaluation");
        awaitRecords("paced", before + 1);
        StopSignal.of(arguments.plan().feed().id()).request();
        await(job);
    }

    @Test
    void goesOnWithTheEpochThatATopicEndsIn() throws Exception {
        await(start("again", "--epochs=1"));
        await(start("again", "--epochs=3"));
        verify("again", 3);
    }

    @Test
    void refusesATopicOfAnotherFeed() throws Exception {
        await(start("taken", "--epochs=1"));
        assertThatThrownBy(() -> start("taken", "--epochs=1", "--seed=6"))
                .isInstanceOf(TopicException.class)
                .hasMessageContaining("holds another feed")
                .hasMessageContaining("--topic");
    }

    private static void awaitRecords(String topic, long count) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
        while (records(topic) < count) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError(topic + " has " + records(topic) + " records, " + count + " were awaited");
            }
        }
    }

    /** Waits until two more checkpoints have passed without a record. */
    private static void awaitStandstill(String topic, JobClient job) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
        long seen = -1;
        long since = System.nanoTime();
        while (System.nanoTime() - since < Duration.ofSeconds(3).toNanos()) {
            long now = records(topic);
            if (now != seen) {
                seen = now;
                since = System.nanoTime();
            }
            assertThat(System.nanoTime()).as("the feed does not stop").isLessThan(deadline);
            assertThat(job.getJobStatus().get().isTerminalState()).isFalse();
        }
    }

    private static void commitEnd(String topic, String group) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrap()))) {
            commitEnd(admin, topic, group);
        }
    }

    private static void commitEnd(Admin admin, String topic, String group) throws Exception {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (int partition = 0; partition < 4; partition++) {
            offsets.put(new TopicPartition(topic, partition), new OffsetAndMetadata(end(admin, topic, partition)));
        }
        admin.alterConsumerGroupOffsets(group, offsets).all().get();
    }

    /** Plays consumers that keep up until the job is done. */
    private static void commitEverything(String topic, JobClient job) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(200);
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrap()))) {
            while (!job.getJobExecutionResult().isDone()) {
                commitEnd(admin, topic, "trainers");
                assertThat(System.nanoTime()).as("the feed does not end").isLessThan(deadline);
            }
        }
        await(job);
    }
}
