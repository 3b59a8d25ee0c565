package dev.stoker.connectors.kafka.sink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.kafka.KafkaBroker;
import dev.stoker.connectors.kafka.KafkaTarget;
import dev.stoker.connectors.kafka.topic.TopicReader;
import dev.stoker.connectors.shared.SharedKafka;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.order.Fingerprint;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.JobInfo;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.TaskInfoImpl;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.CommitterInitContext;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.internal.FlinkKafkaInternalProducer;
import org.apache.flink.metrics.groups.SinkCommitterMetricGroup;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Transactions that a real broker commits or aborts, and the resulting contents of the topic. */
@Timeout(180)
class StrictSinkITCase {
    @RegisterExtension
    static final SharedKafka KAFKA = SharedKafka.withTopics("sink-");

    private static KafkaBroker broker;
    private static Admin admin;

    private final List<FlinkKafkaInternalProducer<byte[], byte[]>> producers = new ArrayList<>();
    private String topic;
    private KafkaTarget target;
    private Committer<KafkaCommittable> committer;
    private long epoch;

    @BeforeAll
    static void startBroker() throws Exception {
        broker = SharedKafka.broker();
        admin = SharedKafka.admin();
    }

    @BeforeEach
    void createTopic(TestInfo test) throws Exception {
        topic = "sink-" + test.getTestMethod().orElseThrow().getName();
        admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get();
        target = new KafkaTarget(broker.bootstrap(), topic, null, true, 900_000, 917_504);
        committer = ((StrictSink) KafkaSinks.create(target, topic)).createCommitter(new FirstTask());
    }

    @AfterEach
    void close() throws Exception {
        committer.close();
        producers.forEach(FlinkKafkaInternalProducer::close);
    }

    private FlinkKafkaInternalProducer<byte[], byte[]> begin(String id) {
        Properties settings = new Properties();
        settings.setProperty("bootstrap.servers", broker.bootstrap());
        settings.setProperty("key.serializer", ByteArraySerializer.class.getName());
        settings.setProperty("value.serializer", ByteArraySerializer.class.getName());
        var producer = new FlinkKafkaInternalProducer<byte[], byte[]>(settings, topic + id);
        producers.add(producer);
        producer.initTransactions();
        producer.beginTransaction();
        return producer;
    }

    /** Writes the beginning of the next epoch, which makes records distinguishable. */
    private void write(FlinkKafkaInternalProducer<byte[], byte[]> producer) {
        RecordHeader header =
                RecordHeader.control(RecordKind.EPOCH_BEGIN, new Fingerprint("ab".repeat(16)), 1, epoch++, 0);
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, 0, null, new byte[0]);
        header.headers(0).forEach((name, value) -> record.headers().add(name, value));
        Future<?> unused = producer.send(record);
        producer.flush();
    }

    /** Writes with a transactional id. Returns the transaction as a checkpoint contains it. */
    private Request prepared(String id) {
        FlinkKafkaInternalProducer<byte[], byte[]> producer = begin(id);
        write(producer);
        producer.precommitTransaction();
        return new Request(KafkaCommittable.of(producer));
    }

    /** Epoch of the last committed record; -1 if there is none. No transaction may stay open. */
    private long last() throws IOException {
        try (TopicReader written = TopicReader.ofAll(target);
                TopicReader committed = new TopicReader(target)) {
            awaitMarkers(written, committed);
            return committed.last(0).map(RecordHeader::epoch).orElse(-1L);
        }
    }

    /** Brokers write the marker of a transaction some moments after they have promised to. */
    private static void awaitMarkers(TopicReader written, TopicReader committed) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (committed.end(0) < written.end(0)) {
            assertThat(System.nanoTime()).as("a transaction is open").isLessThan(deadline);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    private void commit(Request request) throws Exception {
        committer.commit(List.of(request));
    }

    @Test
    void transactionsAreCommittedInTurn() throws Exception {
        commit(prepared("-0"));
        assertThat(last()).isEqualTo(0);
        commit(prepared("-1").ofState());
        assertThat(last()).isEqualTo(1);
    }

    @Test
    void anAbortedTransactionFailsTheTask() throws Exception {
        Request request = prepared("-0");
        admin.fenceProducers(List.of(topic + "-0")).all().get();
        assertThatThrownBy(() -> commit(request))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("aborted transaction " + topic + "-0");
        assertThat(last()).isEqualTo(-1);
    }

    @Test
    void whatIsOpenUnderTheIdOfARefusedTransactionOfAStateIsEnded() throws Exception {
        Request before = prepared("-0");
        commit(before);
        // Begun after the checkpoint that the job resumes from.
        write(begin("-0"));
        Request again = before.ofState();
        commit(again);
        assertThat(again.failure).isNotNull();
        assertThat(last()).isEqualTo(0);
    }

    @Test
    void nothingIsCommittedBehindARefusedTransactionOfAState() throws Exception {
        commit(prepared("-2"));
        Request first = prepared("-0").ofState();
        Request second = prepared("-1").ofState();
        admin.fenceProducers(List.of(topic + "-0")).all().get();
        commit(first);
        commit(second);
        assertThat(first.failure).isNotNull();
        assertThat(second.failure).isNotNull();
        assertThat(last()).isEqualTo(0);
        // That is past when the job runs.
        commit(prepared("-3"));
        assertThat(last()).isEqualTo(3);
    }

    @Test
    void aTransactionOfAStateMayBeForgotten() throws Exception {
        Request request = new Request(new KafkaCommittable(4711, (short) 3, topic + "-0", null));
        commit(request);
        assertThat(request.failure).hasMessageContaining("transactional id");
        assertThat(last()).isEqualTo(-1);
    }

    @Test
    void theLastRecordIsFoundBehindAnyNumberOfOthers() throws Exception {
        long seed = Long.getLong("test.seed", 5);
        Random random = new Random(seed);
        var producer = begin("-0");
        long committed = -1;
        try (TopicReader all = TopicReader.ofAll(target);
                TopicReader reader = new TopicReader(target)) {
            for (int transaction = 0; transaction < 30; transaction++) {
                int records = 1 + random.nextInt(transaction % 10 == 9 ? 40 : 4);
                for (int i = 0; i < records; i++) {
                    write(producer);
                }
                assertThat(all.last(0).orElseThrow().epoch())
                        .as("seed %s", seed)
                        .isEqualTo(epoch - 1);
                if (transaction > 3 && random.nextInt(5) == 0) {
                    producer.commitTransaction();
                    committed = epoch - 1;
                } else {
                    producer.abortTransaction();
                }
                awaitMarkers(all, reader);
                assertThat(reader.last(0).map(RecordHeader::epoch).orElse(-1L))
                        .as("seed %s", seed)
                        .isEqualTo(committed);
                producer.beginTransaction();
            }
        }
        assertThat(committed).isPositive();
    }

    /** A request that records its outcome. */
    private static final class Request implements Committer.CommitRequest<KafkaCommittable> {
        private final KafkaCommittable committable;
        private Throwable failure;

        Request(KafkaCommittable committable) {
            this.committable = committable;
        }

        /** The same request, as restored from a state. */
        Request ofState() {
            return new Request(new KafkaCommittable(
                    committable.getProducerId(), committable.getEpoch(), committable.getTransactionalId(), null));
        }

        @Override
        public KafkaCommittable getCommittable() {
            return committable;
        }

        @Override
        public int getNumberOfRetries() {
            return 0;
        }

        @Override
        public void signalFailedWithKnownReason(Throwable reason) {
            failure = reason;
        }

        @Override
        public void signalFailedWithUnknownReason(Throwable reason) {
            throw new IllegalStateException(reason);
        }

        @Override
        public void retryLater() {
            throw new IllegalStateException("brokers did not answer");
        }

        @Override
        public void updateAndRetryLater(KafkaCommittable other) {
            retryLater();
        }

        @Override
        public void signalAlreadyCommitted() {
            throw new IllegalStateException("never called");
        }
    }

    /** The task's context for Kafka's committer. */
    private static final class FirstTask implements CommitterInitContext {
        @Override
        public SinkCommitterMetricGroup metricGroup() {
            throw new UnsupportedOperationException();
        }

        @Override
        public OptionalLong getRestoredCheckpointId() {
            return OptionalLong.empty();
        }

        @Override
        public JobInfo getJobInfo() {
            throw new UnsupportedOperationException();
        }

        @Override
        public TaskInfo getTaskInfo() {
            return new TaskInfoImpl("sink", 128, 0, 1, 0);
        }
    }
}
