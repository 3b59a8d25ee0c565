package dev.stoker.feeder.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.kafka.KafkaBroker;
import dev.stoker.connectors.kafka.TopicRecord;
import dev.stoker.connectors.kafka.topic.TopicReader;
import dev.stoker.connectors.shared.SharedFlink;
import dev.stoker.connectors.shared.SharedKafka;
import dev.stoker.feeder.RunningJobs;
import dev.stoker.feeder.source.reader.StopSignal;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.Piece;
import dev.stoker.server.StreamContent;
import dev.stoker.server.TestDataset;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests feeds to topics with a short retention, or that are deleted, with a real broker. */
@Timeout(240)
@Tag("full-feeds")
class TopicTroubleITCase {
    private static final int LANES = 4;
    private static final int RANKS = 2;
    private static final int EPOCHS = 1;

    @RegisterExtension
    static final SharedFlink CLUSTER = SharedFlink.ofParallelism(2);

    @RegisterExtension
    static final SharedKafka KAFKA = SharedKafka.withTopics("trouble-");

    @TempDir
    static Path directory;

    private static KafkaBroker broker;
    private static TestDataset dataset;

    private TopicFeedPlan plan;
    private String topic;

    @BeforeAll
    static void prepare() throws IOException {
        broker = SharedKafka.broker();
        dataset = TestDataset.create(directory.resolve("photos"), 11, 2000, 21, 34, 3, 27, 20, 30, 1, 25, 60, 17);
    }

    @AfterEach
    void cancel(@InjectMiniCluster MiniCluster cluster) throws Exception {
        RunningJobs.cancel(cluster);
    }

    private JobClient start(String topic, String... options) throws Exception {
        return start(topic, UnaryOperator.identity(), options);
    }

    private JobClient start(String topic, UnaryOperator<Sink<TopicRecord>> around, String... options) throws Exception {
        List<String> args = new ArrayList<>(List.of(
                dataset.path().toString(),
                "--to=kafka",
                "--bootstrap=" + broker.bootstrap(),
                "--topic=" + topic,
                "--name=" + topic,
                "--batch-size=14",
                "--lanes=" + LANES,
                "--world-size=" + RANKS,
                "--shuffle-window=64 kb",
                "--throttle-groups=trainers"));
        args.addAll(List.of(options));
        if (args.stream().noneMatch(option -> option.startsWith("--checkpoint-interval="))) {
            args.add("--checkpoint-interval=200 ms");
        }
        this.topic = topic;
        plan = TopicFeedPlan.of(TopicFeedOptions.parse(args.toArray(new String[0])));
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(2);
        TopicFeedJob.build(env, plan, around);
        return env.executeAsync();
    }

    /** A record of the topic. */
    private record Found(long offset, RecordHeader header) {}

    private final Map<Integer, List<Found>> log = new TreeMap<>();

    /** Transaction markers, control records and pieces that other ranks read do not count as progress. */
    @Test
    void keepsNothingBackThatTrainersWaitFor() throws Exception {
        train(start("trouble-paced", "--epochs=" + EPOCHS, "--bytes-ahead=1 b", "--delivery=exactly-once"));
    }

    @Test
    void trainersDoNotSeeAbortedRecords() throws Exception {
        JobClient first = start(
                "trouble-given-up", "--epochs=" + EPOCHS, "--delivery=exactly-once", "--checkpoint-interval=5 min");
        try (TopicReader written = TopicReader.ofAll(plan.target())) {
            await("records of batches", () -> IntStream.range(0, LANES).allMatch(lane -> end(written, lane) > 3));
        }
        first.cancel().get();
        await("end of the feed", () -> first.getJobStatus().get().isGloballyTerminalState());
        train(start("trouble-given-up", "--epochs=" + EPOCHS, "--bytes-ahead=1 b", "--delivery=exactly-once"));
    }

    /** Trainers that have read everything ignore the records that a restarted feed writes again. */
    @Test
    void endsWhenItWritesAgainWhatTrainersHaveHadBeforeTheyLeft() throws Exception {
        FailsOnce.armed.set(true);
        JobClient job = start(
                "trouble-left",
                FailsOnce::new,
                "--epochs=" + EPOCHS,
                "--bytes-ahead=1 b",
                "--checkpoint-interval=5 min");
        try {
            await("the feed to fail at the end of a lane", () -> {
                commitEnds();
                return !FailsOnce.armed.get();
            });
            job.getJobExecutionResult().get(100, TimeUnit.SECONDS);
        } finally {
            StopSignal.clear(plan.feed().id());
        }
    }

    /** Simulates trainers that have read everything. */
    private static void commitEnds() throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrap()))) {
            commitEnds(admin);
        }
    }

    private static void commitEnds(Admin admin) throws Exception {
        Map<TopicPartition, OffsetSpec> places = new HashMap<>();
        for (int lane = 0; lane < LANES; lane++) {
            places.put(new TopicPartition("trouble-left", lane), OffsetSpec.latest());
        }
        Map<TopicPartition, OffsetAndMetadata> ends = new HashMap<>();
        admin.listOffsets(places)
                .all()
                .get()
                .forEach((place, end) -> ends.put(place, new OffsetAndMetadata(end.offset())));
        admin.alterConsumerGroupOffsets("trainers", ends).all().get();
    }

    /** Fails once, before the last control record of lane 3, when trainers have read everything before it. */
    @SuppressWarnings("try") // that close may be interrupted is the interface's word
    private record FailsOnce(Sink<TopicRecord> sink) implements Sink<TopicRecord> {
        private static final AtomicBoolean armed = new AtomicBoolean();

        @Override
        public SinkWriter<TopicRecord> createWriter(WriterInitContext context) throws IOException {
            SinkWriter<TopicRecord> writer = sink.createWriter(context);
            return new SinkWriter<>() {
                @Override
                public void write(TopicRecord record, Context at) throws IOException, InterruptedException {
                    RecordHeader header = RecordHeader.read(record.headers(), "record");
                    if (record.partition() == 3 && header.kind() == RecordKind.EPOCH_END && armed.get()) {
                        writer.flush(false);
                        try {
                            commitEnds();
                        } catch (Exception e) {
                            throw new IOException(e);
                        }
                        armed.set(false);
                        throw new IOException("the task fails");
                    }
                    writer.write(record, at);
                }

                @Override
                public void flush(boolean endOfInput) throws IOException, InterruptedException {
                    writer.flush(endOfInput);
                }

                @Override
                public void close() throws Exception {
                    writer.close();
                }
            };
        }
    }

    private void train(JobClient job) throws Exception {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers",
                broker.bootstrap(),
                "group.id",
                "trainers",
                "enable.auto.commit",
                "false",
                "auto.offset.reset",
                "earliest",
                "isolation.level",
                "read_committed");
        try (StreamContent content =
                        StreamContent.open(plan.feed().spec(), plan.feed().serverOptions());
                KafkaConsumer<byte[], byte[]> consumer =
                        new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> places = new ArrayList<>();
            for (int lane = 0; lane < LANES; lane++) {
                places.add(new TopicPartition(topic, lane));
                log.put(lane, new ArrayList<>());
            }
            consumer.assign(places);
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                EpochNumbering numbering = content.order().order().epoch(epoch).numbering();
                assertThat(numbering.evenBatches()).isBetween(1L, numbering.fullBatches() - 1);
                for (long number = 0; number < numbering.size().batches(); number++) {
                    take(consumer, epoch, number, numbering.batch(number));
                }
            }
            job.getJobExecutionResult().get(100, TimeUnit.SECONDS);
        } finally {
            StopSignal.clear(plan.feed().id());
        }
        OrderSpec order = OrderSpec.fromJson(plan.feed().order());
        Topic.verify(dataset, order, EPOCHS, Topic.read(broker.bootstrap(), topic, LANES));
    }

    @Test
    void endsWhenItsTopicIsRecreated() throws Exception {
        JobClient job = start("trouble-recreated");
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrap()))) {
            TopicPartition place = new TopicPartition("trouble-recreated", 0);
            await("a record", () -> {
                var end = admin.listOffsets(Map.of(place, OffsetSpec.latest())).partitionResult(place);
                return end.get().offset() > 0;
            });
            admin.deleteTopics(List.of("trouble-recreated")).all().get();
            admin.createTopics(List.of(new NewTopic("trouble-recreated", LANES, (short) 1)))
                    .all()
                    .get();
        }
        assertThatThrownBy(() -> job.getJobExecutionResult().get(100, TimeUnit.SECONDS))
                .rootCause()
                .isInstanceOf(StokerException.class)
                .hasMessageContaining(
                        "topic trouble-recreated at " + broker.bootstrap() + " is not the topic that the feed wrote to")
                .hasMessageContaining("start a new feed");
    }

    private static void await(String what, Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
        while (!condition.call()) {
            assertThat(System.nanoTime()).as(what).isLessThan(deadline);
            LockSupport.parkNanos(20_000_000);
        }
    }

    private static long end(TopicReader topic, int lane) {
        try {
            return topic.end(lane);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Reads the batch of a rank. While the rank waits for it, only this rank reports its progress, and the others wait.
     */
    private void take(KafkaConsumer<byte[], byte[]> consumer, long epoch, long number, List<Piece> pieces)
            throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
        Map<TopicPartition, OffsetAndMetadata> told = Map.of();
        while (!pieces.stream().allMatch(piece -> has(piece.lane(), epoch, number))) {
            assertThat(System.nanoTime())
                    .as("epoch %d batch %d of %s", epoch, number, pieces)
                    .isLessThan(deadline);
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(50))) {
                Map<String, byte[]> headers = new HashMap<>();
                for (Header header : record.headers()) {
                    headers.put(header.key(), header.value());
                }
                log.get(record.partition())
                        .add(new Found(record.offset(), RecordHeader.read(headers, record.value(), "record")));
            }
            Map<TopicPartition, OffsetAndMetadata> progress = progress((int) (number % RANKS), epoch, number);
            if (!progress.equals(told)) {
                consumer.commitSync(progress);
                told = progress;
            }
        }
    }

    private boolean has(int lane, long epoch, long number) {
        return log.get(lane).stream()
                .map(Found::header)
                .anyMatch(header -> header.kind() == RecordKind.BATCH
                        && header.epoch() == epoch
                        && header.batch() == number
                        && header.part() + 1 == header.parts());
    }

    /** Returns the position of the rank's next batch in each of its own partitions, or the end of the partition. */
    private Map<TopicPartition, OffsetAndMetadata> progress(int rank, long epoch, long number) {
        Map<TopicPartition, OffsetAndMetadata> progress = new HashMap<>();
        for (int lane = rank; lane < LANES; lane += RANKS) {
            long next = 0;
            for (Found found : log.get(lane)) {
                RecordHeader header = found.header();
                if (header.kind() == RecordKind.BATCH
                        && header.batch() % RANKS == rank
                        && (header.epoch() > epoch || (header.epoch() == epoch && header.batch() >= number))) {
                    break;
                }
                next = found.offset() + 1;
            }
            if (next > 0) {
                progress.put(new TopicPartition(topic, lane), new OffsetAndMetadata(next));
            }
        }
        return progress;
    }
}
