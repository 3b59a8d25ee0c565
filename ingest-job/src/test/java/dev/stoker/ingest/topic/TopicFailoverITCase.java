package dev.stoker.ingest.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.kafka.KafkaBroker;
import dev.stoker.connectors.shared.SharedKafka;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.ingest.Packed;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.ingest.spec.InvalidIngestException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.runtime.client.JobStatusMessage;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** An ingest of a topic on a cluster whose machines and broker are killed. */
@Timeout(300)
class TopicFailoverITCase {

    private static final int PARTITIONS = 2;

    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(new MiniClusterResourceConfiguration.Builder()
            .setNumberTaskManagers(2)
            .setNumberSlotsPerTaskManager(1)
            .build());

    @RegisterExtension
    static final SharedKafka KAFKA = SharedKafka.withTopics("failover-");

    @TempDir
    static Path directory;

    private final KafkaBroker broker = SharedKafka.broker();

    @AfterEach
    void cancelWhatRuns(@InjectMiniCluster MiniCluster cluster) throws Exception {
        for (JobStatusMessage job : cluster.listJobs().get()) {
            if (!job.getJobState().isGloballyTerminalState()) {
                cluster.cancelJob(job.getJobId()).get();
                cluster.requestJobResult(job.getJobId()).get();
            }
        }
    }

    /** An ingest in a separate thread. */
    private static final class Running {
        private final AtomicBoolean stop = new AtomicBoolean();
        private final AtomicLong packed = new AtomicLong();
        private final CompletableFuture<TopicIngestResult> result = new CompletableFuture<>();

        static Running start(TopicIngestOptions options, Configuration conf) {
            Running running = new Running();
            Configuration all = new Configuration(conf);
            all.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
            all.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 100);
            all.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(500));
            all.set(
                    CheckpointingOptions.SAVEPOINT_DIRECTORY,
                    directory.resolve("savepoints").toUri().toString());
            StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(all);
            Thread thread = new Thread(
                    () -> {
                        try (JobLauncher job = JobLauncher.submitting(env)) {
                            IngestListener<TopicIngestProgress> listener = new IngestListener<>() {
                                @Override
                                public void progressed(TopicIngestProgress progress) {
                                    running.packed.set(progress.samples());
                                }
                            };
                            running.result.complete(TopicIngestJob.run(options, job, listener, running.stop::get));
                        } catch (Exception | AssertionError e) {
                            running.result.completeExceptionally(e);
                        }
                    },
                    "ingest");
            thread.setDaemon(true);
            thread.start();
            return running;
        }

        /** Waits until the job has packed this number of samples; they need not be in a version. */
        void awaitPacked(long samples) throws Exception {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
            while (packed.get() < samples) {
                if (result.isDone()) {
                    throw new AssertionError("the ingest has ended: " + end());
                }
                assertThat(System.nanoTime()).as("packed: " + packed.get()).isLessThan(deadline);
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
            }
        }

        TopicIngestResult stop() throws Exception {
            stop.set(true);
            return end();
        }

        TopicIngestResult end() throws Exception {
            try {
                return result.get(120, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                throw e.getCause() instanceof Exception cause ? cause : e;
            }
        }

        /** Waits until the dataset has this number of samples. */
        void awaitSamples(Path target, long samples) throws Exception {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
            while (count(target) < samples) {
                if (result.isDone()) {
                    throw new AssertionError("the ingest has ended: " + end());
                }
                assertThat(System.nanoTime()).as("samples: " + count(target)).isLessThan(deadline);
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
            }
        }
    }

    private static long count(Path target) throws Exception {
        return Files.exists(target) && Packed.latestVersion(target) > 0
                ? Packed.read(target).samples().size()
                : 0;
    }

    private static Map<String, String> send(Topic topic, String name, int from, int count) throws Exception {
        Map<String, String> sent = new TreeMap<>();
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = from; i < from + count; i++) {
            records.add(topic.record(i % PARTITIONS, null, "value " + i));
            sent.put(name + "-" + i % PARTITIONS + "-" + i / PARTITIONS, "value " + i);
        }
        topic.send(records);
        return sent;
    }

    private static TopicIngestOptions options(Topic topic, Path target, String... more) {
        List<String> args = new ArrayList<>(List.of(more));
        args.addAll(List.of("--value=raw", "--chunk-size=8kb", "--parallelism=2"));
        if (args.stream().noneMatch(option -> option.startsWith("--commit-interval="))) {
            args.add("--commit-interval=300 ms");
        }
        return Streams.options(topic.uri(), target, args.toArray(new String[0]));
    }

    @Test
    void losesAndRepeatsNothingWithATaskManager(@InjectMiniCluster MiniCluster cluster) throws Exception {
        Topic topic = Topic.create(broker, "failover-machines", PARTITIONS);
        Path target = directory.resolve("failover-machines-data");
        Map<String, String> sent = send(topic, "failover-machines", 0, 500);
        Running running = Running.start(options(topic, target), new Configuration());
        running.awaitSamples(target, 500);
        sent.putAll(send(topic, "failover-machines", 500, 500));
        cluster.terminateTaskManager(0).get(60, TimeUnit.SECONDS);
        sent.putAll(send(topic, "failover-machines", 1000, 500));
        cluster.startTaskManager();
        running.awaitSamples(target, 1500);
        running.stop();
        assertThat(Streams.texts(target, "data")).isEqualTo(sent);
        Streams.verify(target);
    }

    @Test
    @Tag("full-feeds")
    void losesAndRepeatsNothingWithTheBroker() throws Exception {
        try (KafkaBroker killed = KafkaBroker.start(directory.resolve("broker"))) {
            losesAndRepeatsNothingWith(killed);
        }
    }

    private static void losesAndRepeatsNothingWith(KafkaBroker broker) throws Exception {
        Topic topic = Topic.create(broker, "failover-brokers", PARTITIONS);
        Path target = directory.resolve("failover-brokers-data");
        Map<String, String> sent = send(topic, "failover-brokers", 0, 500);
        Running running = Running.start(options(topic, target), new Configuration());
        running.awaitSamples(target, 500);
        sent.putAll(send(topic, "failover-brokers", 500, 500));
        broker.kill();
        broker.start();
        sent.putAll(send(topic, "failover-brokers", 1000, 500));
        running.awaitSamples(target, 1500);
        running.stop();
        assertThat(Streams.texts(target, "data")).isEqualTo(sent);
        Streams.verify(target);
    }

    private static String onlyNew(Set<Path> before) throws Exception {
        List<Path> found = new ArrayList<>(savepoints());
        found.removeAll(before);
        assertThat(found).hasSize(1);
        return found.get(0).toUri().toString();
    }

    private static Set<Path> savepoints() throws Exception {
        Path all = directory.resolve("savepoints");
        if (!Files.isDirectory(all)) {
            return Set.of();
        }
        try (Stream<Path> found = Files.list(all)) {
            return found.filter(path -> Files.exists(path.resolve("_metadata"))).collect(Collectors.toSet());
        }
    }

    @Test
    @Tag("full-feeds")
    void goesOnFromASavepointUnlessTheDatasetHasGoneOn() throws Exception {
        Topic topic = Topic.create(broker, "failover-savepoints", PARTITIONS);
        Path target = directory.resolve("failover-savepoints-data");
        Map<String, String> sent = send(topic, "failover-savepoints", 0, 200);
        Set<Path> before = savepoints();
        Running first = Running.start(options(topic, target), new Configuration());
        first.awaitSamples(target, 200);
        first.stop();
        Configuration fromSavepoint = new Configuration();
        fromSavepoint.set(StateRecoveryOptions.SAVEPOINT_PATH, onlyNew(before));

        sent.putAll(send(topic, "failover-savepoints", 200, 100));
        assertThatThrownBy(Running.start(options(topic, target, "--until=latest"), fromSavepoint)::end)
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("--until");
        Running second = Running.start(options(topic, target), fromSavepoint);
        second.awaitSamples(target, 300);
        assertThat(second.stop().samples()).isEqualTo(100);
        assertThat(Streams.texts(target, "data")).isEqualTo(sent);

        // The savepoint is old now: what follows it is in the dataset.
        Running third = Running.start(options(topic, target), fromSavepoint);
        assertThatThrownBy(third::end)
                .isInstanceOf(IngestFailedException.class)
                .hasMessageContaining("started from an old savepoint");
        assertThat(Streams.texts(target, "data")).isEqualTo(sent);
    }

    @Test
    @Tag("full-feeds")
    void aSavepointWithAVersionToCommitMakesItOnceHoweverOftenItIsRestored() throws Exception {
        Topic topic = Topic.create(broker, "failover-pending", PARTITIONS);
        Path target = directory.resolve("failover-pending-data");
        Map<String, String> sent = send(topic, "failover-pending", 0, 100);
        Set<Path> before = savepoints();
        // No checkpoint but the savepoint: it holds the part that it asks to commit.
        Running first = Running.start(options(topic, target, "--commit-interval=1 h"), new Configuration());
        first.awaitPacked(100);
        assertThat(first.stop().samples()).isEqualTo(100);
        Configuration fromSavepoint = new Configuration();
        fromSavepoint.set(StateRecoveryOptions.SAVEPOINT_PATH, onlyNew(before));

        // Under traffic, so that the restored job has something to commit at once.
        sent.putAll(send(topic, "failover-pending", 100, 100));
        Running second = Running.start(options(topic, target), fromSavepoint);
        sent.putAll(send(topic, "failover-pending", 200, 100));
        second.awaitSamples(target, 300);
        assertThat(second.stop().samples()).isEqualTo(200);

        sent.putAll(send(topic, "failover-pending", 300, 100));
        Running third = Running.start(options(topic, target), fromSavepoint);
        assertThatThrownBy(third::end)
                .isInstanceOf(IngestFailedException.class)
                .hasMessageContaining("started from an old savepoint");
        assertThat(count(target)).isEqualTo(300);

        Running fourth = Running.start(options(topic, target), new Configuration());
        fourth.awaitSamples(target, 400);
        fourth.stop();
        assertThat(Streams.texts(target, "data")).isEqualTo(sent);
        Streams.verify(target);
    }

    @Test
    @Tag("full-feeds")
    void commitsNothingOfATopicThatIsCreatedAgainMeanwhile() throws Exception {
        Topic topic = Topic.create(broker, "failover-exchanged", PARTITIONS);
        Path target = directory.resolve("failover-exchanged-data");
        Map<String, String> sent = send(topic, "failover-exchanged", 0, 100);
        Running running = Running.start(options(topic, target), new Configuration());
        running.awaitSamples(target, 100);
        topic.delete();
        send(Topic.create(broker, "failover-exchanged", PARTITIONS), "failover-exchanged", 1000, 300);
        assertThatThrownBy(running::end)
                .isInstanceOf(IngestFailedException.class)
                .hasMessageContaining("was deleted and recreated");
        assertThat(Streams.texts(target, "data")).isEqualTo(sent);
    }
}
