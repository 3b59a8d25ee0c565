package dev.stoker.connectors.kafka.topic;

import dev.stoker.connectors.kafka.BrokerErrors;
import dev.stoker.connectors.kafka.BrokersAwayException;
import dev.stoker.connectors.kafka.KafkaTarget;
import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordKind;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads single records of a topic. One thread. */
public final class TopicReader implements AutoCloseable {
    private static final Duration WAIT = Duration.ofSeconds(20);
    private static final Duration POLL = Duration.ofMillis(200);
    /** Enough for many markers; a single larger record is still returned. */
    private static final int FETCH_BYTES = 64 << 10;

    private final KafkaTarget target;
    private final KafkaConsumer<byte[], byte[]> consumer;

    /**
     * Opens a reader of committed records.
     *
     * @throws IOException if the clients' settings cannot be read
     */
    public TopicReader(KafkaTarget target) throws IOException {
        this(target, "read_committed");
    }

    private TopicReader(KafkaTarget target, String isolation) throws IOException {
        Properties settings = target.clients();
        settings.setProperty(ConsumerConfig.ISOLATION_LEVEL_CONFIG, isolation);
        settings.setProperty(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        settings.setProperty(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        settings.setProperty(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        settings.setProperty(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, Integer.toString(FETCH_BYTES));
        // A fetch at the end of a partition delays the next request by this time.
        settings.setProperty(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, "10");
        settings.setProperty(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, "20000");
        this.target = target;
        this.consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /**
     * Opens a reader of all written records, including those that are not committed yet or were aborted.
     *
     * @throws IOException if the clients' settings cannot be read
     */
    public static TopicReader ofAll(KafkaTarget target) throws IOException {
        return new TopicReader(target, "read_uncommitted");
    }

    /** The first offset that still exists. */
    public long begin(int partition) throws IOException {
        TopicPartition place = assigned(partition);
        try {
            return Objects.requireNonNull(
                    consumer.beginningOffsets(List.of(place), WAIT).get(place));
        } catch (KafkaException e) {
            throw failed(partition, e);
        }
    }

    /** The offset after the last record or marker. */
    public long end(int partition) throws IOException {
        TopicPartition place = assigned(partition);
        try {
            return Objects.requireNonNull(
                    consumer.endOffsets(List.of(place), WAIT).get(place));
        } catch (KafkaException e) {
            throw failed(partition, e);
        }
    }

    /**
     * The first record at or after an offset.
     *
     * @throws StokerException if it is not a record of a feed
     */
    public Optional<RecordHeader> at(int partition, long offset) throws IOException {
        return next(partition, Math.max(offset, begin(partition)), end(partition));
    }

    /** The offset of the first record of a batch at or after an offset; the partition's end if there is none. */
    public long firstBatch(int partition, long offset) throws IOException {
        long end = end(partition);
        long from = Math.max(offset, begin(partition));
        for (Optional<RecordHeader> next = next(partition, from, end); next.isPresent(); ) {
            if (next.get().kind() == RecordKind.BATCH) {
                return position - 1;
            }
            next = next(partition, position, end);
        }
        return end;
    }

    /** The last record. Any number of markers and aborted records may follow it. */
    public Optional<RecordHeader> last(int partition) throws IOException {
        return before(partition, end(partition));
    }

    /** The last record before an offset. */
    public Optional<RecordHeader> before(int partition, long offset) throws IOException {
        long begin = begin(partition);
        long end = offset;
        Optional<RecordHeader> found = Optional.empty();
        // Goes back twice as far each time; nothing is read twice.
        for (long back = 1; found.isEmpty() && begin < end; back *= 2) {
            long from = Math.max(begin, end - back);
            found = next(partition, from, end);
            end = found.isEmpty() ? from : end;
        }
        // The last record is this one or follows it; the remaining interval is halved each time.
        long after = found.isEmpty() ? end : position;
        while (after < end) {
            long middle = after + (end - after) / 2;
            Optional<RecordHeader> later = next(partition, middle, end);
            if (later.isEmpty()) {
                end = middle;
            } else {
                found = later;
                after = position;
            }
        }
        return found;
    }

    /** The offset after the last record found by {@link #next}. */
    private long position;

    private Optional<RecordHeader> next(int partition, long from, long end) throws IOException {
        TopicPartition place = assigned(partition);
        try {
            if (from >= end) {
                return Optional.empty();
            }
            consumer.seek(place, from);
            long deadline = System.nanoTime() + WAIT.toNanos();
            for (long at = from; at < end; ) {
                List<ConsumerRecord<byte[], byte[]>> records =
                        consumer.poll(POLL).records(place);
                if (!records.isEmpty()) {
                    ConsumerRecord<byte[], byte[]> record = records.get(0);
                    position = record.offset() + 1;
                    return Optional.of(header(record));
                }
                long reached = consumer.position(place);
                if (reached > at) {
                    // Skips aborted records.
                    at = reached;
                    deadline = System.nanoTime() + WAIT.toNanos();
                } else if (System.nanoTime() > deadline) {
                    throw new BrokersAwayException(
                            target + ", partition " + partition + ": no record arrived from offset " + at + " within "
                                    + WAIT.toSeconds() + " s, although the partition ends at " + end,
                            null);
                }
            }
            return Optional.empty();
        } catch (KafkaException e) {
            throw failed(partition, e);
        }
    }

    /**
     * Returns the assigned partition. The client logs a warning for each request about a partition that is not
     * assigned.
     */
    private TopicPartition assigned(int partition) {
        TopicPartition place = new TopicPartition(target.topic(), partition);
        consumer.assign(List.of(place));
        return place;
    }

    private RecordHeader header(ConsumerRecord<byte[], byte[]> record) throws StokerException {
        Map<String, byte[]> headers = new HashMap<>();
        for (Header header : record.headers()) {
            headers.put(header.key(), header.value());
        }
        return RecordHeader.read(headers, target + ", partition " + record.partition() + ", offset " + record.offset());
    }

    private TopicException failed(int partition, KafkaException e) {
        return BrokerErrors.of(
                target.topic(),
                target.bootstrap(),
                e,
                target + ", partition " + partition + " cannot be read: " + e.getMessage());
    }

    @Override
    public void close() {
        consumer.close(CloseOptions.timeout(Duration.ofSeconds(2)));
    }
}
