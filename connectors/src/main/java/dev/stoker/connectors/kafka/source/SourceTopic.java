package dev.stoker.connectors.kafka.source;

import dev.stoker.connectors.kafka.BrokerErrors;
import dev.stoker.connectors.kafka.BrokersAwayException;
import dev.stoker.connectors.kafka.SourceRecord;
import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.connectors.kafka.TopicLocation;
import dev.stoker.schemas.errors.ErrorText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/** Describes a topic to read: its id, partitions, offsets and first records. One thread. */
public final class SourceTopic implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration POLL = Duration.ofMillis(200);

    private final TopicLocation location;
    private final Duration patience;
    private final Admin admin;

    /** @throws IOException if the clients' settings cannot be read or are invalid */
    public SourceTopic(TopicLocation location) throws IOException {
        this(location, PATIENCE);
    }

    /** @param patience how long brokers may take to answer */
    public SourceTopic(TopicLocation location, Duration patience) throws IOException {
        Properties settings = location.clients();
        String patienceMs = Long.toString(patience.toMillis());
        settings.setProperty(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, patienceMs);
        settings.setProperty(
                AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, Long.toString(Math.min(20_000, patience.toMillis())));
        this.location = location;
        this.patience = patience;
        try {
            this.admin = Admin.create(settings);
        } catch (KafkaException e) {
            throw BrokerErrors.notMade(location.toString(), e);
        }
    }

    /**
     * The properties of a topic.
     *
     * @param id the id of the topic; a topic that is later created under the same name has another
     * @param cluster id of the cluster
     * @param partitions the number of partitions
     */
    public record Shape(String id, String cluster, int partitions) {}

    /**
     * Returns the topic's properties.
     *
     * @throws TopicException if the topic does not exist, or no broker answers
     */
    public Shape shape() throws IOException {
        TopicDescription topic = get(Objects.requireNonNull(
                admin.describeTopics(List.of(location.topic()))
                        .topicNameValues()
                        .get(location.topic()),
                "each request has an answer"));
        String cluster = get(admin.describeCluster().clusterId());
        return new Shape(topic.topicId().toString(), cluster, topic.partitions().size());
    }

    /** The first offset that still exists, by partition. */
    public SortedMap<Integer, Long> beginnings(int partitions) throws IOException {
        return offsets(partitions, OffsetSpec.earliest(), IsolationLevel.READ_UNCOMMITTED);
    }

    /**
     * The offset after the last readable record or marker, by partition. An open transaction hides the records after
     * its start.
     */
    public SortedMap<Integer, Long> ends(int partitions) throws IOException {
        return offsets(partitions, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED);
    }

    /** The offset after the last record or marker, by partition, also of open transactions. */
    public SortedMap<Integer, Long> written(int partitions) throws IOException {
        return offsets(partitions, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED);
    }

    /** The first offset of this time or later, by partition; the partition's end if there is none. */
    public SortedMap<Integer, Long> since(int partitions, long timestampMs) throws IOException {
        SortedMap<Integer, Long> found =
                offsets(partitions, OffsetSpec.forTimestamp(timestampMs), IsolationLevel.READ_UNCOMMITTED);
        SortedMap<Integer, Long> ends = ends(partitions);
        ends.forEach((partition, end) -> found.merge(partition, end, (offset, last) -> offset < 0 ? last : offset));
        return found;
    }

    private SortedMap<Integer, Long> offsets(int partitions, OffsetSpec spec, IsolationLevel isolation)
            throws IOException {
        Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
        for (int partition = 0; partition < partitions; partition++) {
            wanted.put(new TopicPartition(location.topic(), partition), spec);
        }
        Map<TopicPartition, ListOffsetsResult.ListOffsetsResultInfo> found =
                get(admin.listOffsets(wanted, new ListOffsetsOptions(isolation)).all());
        SortedMap<Integer, Long> offsets = new TreeMap<>();
        found.forEach((place, info) -> offsets.put(place.partition(), info.offset()));
        return offsets;
    }

    /**
     * Returns the first committed records between two offsets of each partition, up to a number and a size. The result
     * depends only on the topic: partitions take turns, in ascending order, with one record each.
     */
    public List<SourceRecord> first(
            SortedMap<Integer, Long> start, SortedMap<Integer, Long> end, int most, long mostBytes) throws IOException {
        List<List<SourceRecord>> byPartition = new ArrayList<>();
        int share = Math.max(1, (most + Math.max(1, start.size()) - 1) / Math.max(1, start.size()));
        long shareBytes = mostBytes / Math.max(1, start.size());
        try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
            try {
                for (Map.Entry<Integer, Long> from : start.entrySet()) {
                    long stop = end.getOrDefault(from.getKey(), 0L);
                    byPartition.add(read(consumer, from.getKey(), from.getValue(), stop, share, shareBytes));
                }
            } finally {
                consumer.close(CloseOptions.timeout(Duration.ofSeconds(2)));
            }
        } catch (KafkaException e) {
            throw failed(e, " cannot be read: " + BrokerErrors.rootMessage(e));
        }
        List<SourceRecord> records = new ArrayList<>();
        for (int turn = 0; turn < share; turn++) {
            for (List<SourceRecord> own : byPartition) {
                if (turn < own.size() && records.size() < most) {
                    records.add(own.get(turn));
                }
            }
        }
        return records;
    }

    private KafkaConsumer<byte[], byte[]> consumer() throws IOException {
        Properties settings = location.clients();
        settings.setProperty(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        settings.setProperty(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        settings.setProperty(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        settings.setProperty(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        settings.setProperty(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, Long.toString(patience.toMillis()));
        return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private List<SourceRecord> read(
            KafkaConsumer<byte[], byte[]> consumer, int partition, long from, long stop, int most, long mostBytes)
            throws IOException {
        List<SourceRecord> records = new ArrayList<>();
        if (from >= stop) {
            return records;
        }
        TopicPartition place = new TopicPartition(location.topic(), partition);
        consumer.assign(List.of(place));
        consumer.seek(place, from);
        long bytes = 0;
        long deadline = System.nanoTime() + patience.toNanos();
        while (consumer.position(place) < stop) {
            for (ConsumerRecord<byte[], byte[]> found : consumer.poll(POLL).records(place)) {
                if (found.offset() >= stop || records.size() >= most || bytes >= mostBytes) {
                    return records;
                }
                SourceRecord record = FetchSplits.record(found, wrap(found.key()), wrap(found.value()));
                records.add(record);
                bytes += record.size();
            }
            if (System.nanoTime() > deadline) {
                throw new BrokersAwayException(
                        location + ", partition " + partition + ": no record arrived from offset " + from + " within "
                                + patience.toSeconds() + " s, although the partition ends at " + stop,
                        null);
            }
        }
        return records;
    }

    private static @Nullable ByteBuffer wrap(byte @Nullable [] bytes) {
        return bytes == null ? null : ByteBuffer.wrap(bytes);
    }

    private <T> T get(KafkaFuture<T> future) throws IOException {
        try {
            return future.get(patience.toMillis() + 10_000, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BrokersAwayException(location + ": interrupted while waiting for the brokers", e);
        } catch (TimeoutException e) {
            throw failed(e, "");
        } catch (ExecutionException e) {
            Throwable cause = Objects.requireNonNull(e.getCause(), "a failed future has a cause");
            if (cause instanceof UnknownTopicOrPartitionException || cause instanceof InvalidTopicException) {
                throw new TopicException(location + " does not exist; create it, or correct its name", cause);
            }
            throw failed(
                    cause,
                    " cannot be read: " + ErrorText.of(cause)
                            + "; check the address, --kafka-config, and that the brokers are running");
        }
    }

    private TopicException failed(Throwable failure, String otherwise) {
        return BrokerErrors.of(location.topic(), location.bootstrap(), failure, location + otherwise);
    }

    /** Closes the connection to the brokers. */
    @Override
    public void close() {
        admin.close(Duration.ofSeconds(5));
    }
}
