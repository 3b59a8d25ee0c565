package dev.stoker.feeder.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.kafka.KafkaBroker;
import dev.stoker.connectors.shared.SharedFlink;
import dev.stoker.connectors.shared.SharedKafka;
import dev.stoker.feeder.RunningJobs;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.server.StreamContent;
import dev.stoker.server.TestDataset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests exactly-once feeds whose transactions brokers abort between a checkpoint and its commit. */
@Timeout(240)
class AbortedTransactionsITCase {
    private static final int LANES = 4;
    private static final int EPOCHS = 8;

    @RegisterExtension
    static final SharedFlink CLUSTER = SharedFlink.ofParallelism(2);

    @RegisterExtension
    static final SharedKafka KAFKA = SharedKafka.withTopics("aborted-");

    @TempDir
    static Path directory;

    private static KafkaBroker broker;
    private static Admin admin;
    private static TestDataset dataset;

    /** The cause of the abort. */
    private enum Cause {
        /** Aborts all open transactions, including the other task's transactions. */
        ANOTHER_FEED(4) {
            @Override
            void abort(List<String> ids) throws Exception {
                var open = new ListTransactionsOptions().filterStates(List.of(TransactionState.ONGOING));
                List<String> known = admin.listTransactions(open).all().get().stream()
                        .map(TransactionListing::transactionalId)
                        .toList();
                assertThat(known).containsAll(ids);
                admin.fenceProducers(known).all().get();
            }
        },
        /** Aborts only the transactions of the checkpoint. */
        TIME(2) {
            @Override
            void abort(List<String> ids) throws Exception {
                until(
                        "the brokers abort " + ids,
                        () -> admin.describeTransactions(ids).all().get().values().stream()
                                .allMatch(one -> one.state() == TransactionState.COMPLETE_ABORT));
            }
        };

        final int times;

        Cause(int times) {
            this.times = times;
        }

        abstract void abort(List<String> ids) throws Exception;
    }

    @BeforeAll
    static void prepare() throws Exception {
        broker = SharedKafka.broker();
        admin = SharedKafka.admin();
        dataset = TestDataset.create(directory.resolve("photos"), 11, 500, 60, 70, 20, 50, 40);
    }

    @AfterEach
    void cancel(@InjectMiniCluster MiniCluster cluster) throws Exception {
        FaultySink.fault = ids -> {};
        RunningJobs.cancel(cluster);
    }

    private static TopicFeedPlan arguments(String topic, String timeout, String... options) throws Exception {
        List<String> args = new ArrayList<>(List.of(
                dataset.path().toString(),
                "--to=kafka",
                "--bootstrap=" + broker.bootstrap(),
                "--topic=" + topic,
                "--name=" + topic,
                "--batch-size=8",
                "--lanes=" + LANES,
                "--world-size=2",
                "--shuffle-window=16 kb",
                "--epochs=" + EPOCHS,
                "--throttle-groups=trainers",
                "--epochs-ahead=1",
                "--delivery=exactly-once",
                "--transaction-timeout=" + timeout,
                "--checkpoint-interval=100 ms"));
        args.addAll(List.of(options));
        return TopicFeedPlan.of(TopicFeedOptions.parse(args.toArray(new String[0])));
    }

    private static JobClient start(TopicFeedPlan arguments, Configuration settings, int parallelism) throws Exception {
        // The graph must override this setting of the cluster.
        settings.set(PipelineOptions.OPERATOR_CHAINING, false);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(settings);
        env.setParallelism(parallelism);
        TopicFeedJob.build(env, arguments, FaultySink::new);
        return env.executeAsync();
    }

    @ParameterizedTest
    @EnumSource(Cause.class)
    void writesAbortedRecordsAgain(Cause cause) throws Exception {
        AtomicInteger commits = new AtomicInteger();
        AtomicInteger given = new AtomicInteger();
        FaultySink.fault = ids -> {
            // Abort only before the second commit that is let through: a feed with two tasks cannot end earlier.
            if (commits.incrementAndGet() % 3 != 0 && given.get() < cause.times) {
                given.incrementAndGet();
                cause.abort(ids);
            }
        };
        TopicFeedPlan arguments = cause == Cause.TIME
                ? arguments("aborted-given-up-in-time", "2 s", "--follow")
                : arguments("aborted-given-up-by-another", "15 min");
        Configuration impatient = new Configuration();
        impatient.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        impatient.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1000);
        impatient.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(20));
        consume(arguments, start(arguments, impatient, 2));
        assertThat(given.get()).isGreaterThanOrEqualTo(cause.times);
        verify(arguments);
    }

    @ParameterizedTest
    @ValueSource(strings = {"2 s", "15 min"})
    void goesOnFromACheckpointThatWasNotCommitted(String timeout) throws Exception {
        AtomicInteger commits = new AtomicInteger();
        FaultySink.fault = ids -> {
            if (commits.incrementAndGet() == 4) {
                throw new IllegalStateException("the machine is gone");
            }
        };
        TopicFeedPlan arguments = arguments("aborted-down-" + timeout.replace(" ", ""), timeout);
        boolean isAborted = !timeout.endsWith("min");
        Path checkpoints = directory.resolve(arguments.target().topic());
        Configuration kept = new Configuration();
        kept.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, checkpoints.toUri().toString());
        kept.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        kept.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
        JobClient lost = start(arguments, kept, 2);
        assertThatThrownBy(() -> consume(arguments, lost)).rootCause().hasMessageContaining("the machine is gone");
        FaultySink.fault = ids -> {};
        if (isAborted) {
            until(
                    "all are aborted",
                    () -> ends(arguments, IsolationLevel.READ_COMMITTED)
                            .equals(ends(arguments, IsolationLevel.READ_UNCOMMITTED)));
        }
        Configuration restored = new Configuration();
        restored.set(StateRecoveryOptions.SAVEPOINT_PATH, newest(checkpoints));
        // One task gets the transactions of both tasks.
        consume(arguments, start(arguments, restored, 1));
        verify(arguments);
        if (!isAborted) {
            assertThat(read(arguments).values())
                    .allSatisfy(records -> assertThat(Topic.firsts(records)).hasSameSizeAs(records));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aLaneWaitsUntilItIsKnownWhatBecomesOfItsRecords(boolean isCommitted) throws Exception {
        TopicFeedPlan arguments = arguments("aborted-waits-" + isCommitted, "15 min");
        TopicFeedPlan plan = arguments;
        String topic = plan.target().topic();
        admin.createTopics(List.of(new NewTopic(topic, LANES, (short) 1))).all().get();
        ExecutorService executor = Executors.newSingleThreadExecutor();
        // A transaction of a task that has not committed it yet.
        try (StreamContent content =
                        StreamContent.open(plan.feed().spec(), plan.feed().serverOptions());
                TopicEpochs epochs = new TopicEpochs(plan, content);
                KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                        Map.of("bootstrap.servers", broker.bootstrap(), "transactional.id", topic),
                        new ByteArraySerializer(),
                        new ByteArraySerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            LaneWriter writer = new LaneWriter(epochs, KafkaLane.fresh(1), OptionalLong.of(EPOCHS));
            KafkaLane state = null;
            while (writer.epoch() < 1) {
                for (LaneWriter.Step step : writer.next()) {
                    ProducerRecord<byte[], byte[]> record =
                            new ProducerRecord<>(topic, 1, null, step.record().value());
                    step.record()
                            .headers()
                            .forEach((name, value) -> record.headers().add(name, value));
                    Future<?> unused = producer.send(record);
                    state = step.after();
                }
            }
            producer.flush();
            List<KafkaLane> lanes = List.of(state);
            AtomicReference<Thread> thread = new AtomicReference<>();
            Future<List<KafkaLane>> found = executor.submit(() -> {
                thread.set(Thread.currentThread());
                return new LaneResume(plan.target(), epochs).of(lanes);
            });
            until(
                    "it waits",
                    () -> found.isDone()
                            || (thread.get() != null
                                    && Arrays.stream(thread.get().getStackTrace())
                                            .anyMatch(frame ->
                                                    frame.getMethodName().equals("awaitEnd"))));
            if (isCommitted) {
                producer.commitTransaction();
            } else {
                producer.abortTransaction();
            }
            assertThat(found.get(100, TimeUnit.SECONDS)).isEqualTo(isCommitted ? lanes : List.of(KafkaLane.fresh(1)));
        } finally {
            executor.shutdownNow();
        }
    }

    private static String newest(Path checkpoints) throws Exception {
        try (Stream<Path> files = Files.walk(checkpoints)) {
            return files.filter(file -> file.endsWith("_metadata"))
                    .map(Path::getParent)
                    .max(Comparator.comparingLong(
                            path -> Long.parseLong(path.getFileName().toString().substring("chk-".length()))))
                    .orElseThrow()
                    .toUri()
                    .toString();
        }
    }

    private static Map<Integer, List<Topic.Found>> read(TopicFeedPlan arguments) throws Exception {
        return Topic.read(broker.bootstrap(), arguments.target().topic(), LANES);
    }

    private static void verify(TopicFeedPlan arguments) throws Exception {
        OrderSpec order = OrderSpec.fromJson(arguments.feed().order());
        Topic.verify(dataset, order, EPOCHS, read(arguments));
    }

    /** Simulates consumers of committed records until the job is done. */
    private static void consume(TopicFeedPlan arguments, JobClient job) throws Exception {
        until("the feed ends", () -> {
            Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
            List<Long> ends = ends(arguments, IsolationLevel.READ_COMMITTED);
            for (int lane = 0; lane < LANES; lane++) {
                TopicPartition place = new TopicPartition(arguments.target().topic(), lane);
                offsets.put(place, new OffsetAndMetadata(ends.get(lane)));
            }
            admin.alterConsumerGroupOffsets("trainers", offsets).all().get();
            return job.getJobExecutionResult().isDone();
        });
        job.getJobExecutionResult().get();
    }

    private static List<Long> ends(TopicFeedPlan arguments, IsolationLevel isolation) throws Exception {
        Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
        for (int lane = 0; lane < LANES; lane++) {
            latest.put(new TopicPartition(arguments.target().topic(), lane), OffsetSpec.latest());
        }
        var found = admin.listOffsets(latest, new ListOffsetsOptions(isolation))
                .all()
                .get();
        List<Long> ends = new ArrayList<>();
        for (int lane = 0; lane < LANES; lane++) {
            ends.add(found.get(new TopicPartition(arguments.target().topic(), lane))
                    .offset());
        }
        return ends;
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
}
