package dev.stoker.connectors.kafka;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.kafka.RecordHeader;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Looks at single records of a topic. One thread. */
public final class TopicReader implements AutoCloseable {
    private static final Duration WAIT = Duration.ofSeconds(20);
    private static final Duration POLL = Duration.ofMillis(200);

    private final KafkaTarget target;
    private final KafkaConsumer<byte[], byte[]> consumer;

    /**
     * A reader of what is committed.
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
        settings.setProperty(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, "1");
        settings.setProperty(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, "20000");
        this.target = target;
        this.consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /**
     * A reader of all that was written, also of what is not committed yet or never will be.
     *
     * @throws IOException if the clients' settings cannot be read
     */
    public static TopicReader ofAll(KafkaTarget target) throws IOException {
        return new TopicReader(target, "read_uncommitted");
    }

    /** The first offset that is still there. */
    public long begin(int partition) throws IOException {
        TopicPartition place = new TopicPartition(target.topic(), partition);
        try {
            return consumer.beginningOffsets(List.of(place), WAIT).get(place);
        } catch (KafkaException e) {
            throw failed(partition, e);
        }
    }

    /** The offset after the last record or marker. */
    public long end(int partition) throws IOException {
        TopicPartition place = new TopicPartition(target.topic(), partition);
        try {
            return consumer.endOffsets(List.of(place), WAIT).get(place);
        } catch (KafkaException e) {
            throw failed(partition, e);
        }
    }

    /**
     * The first record at or after an offset.
     *
     * @throws StokerException if it is no record of a feed
     */
    public Optional<RecordHeader> at(int partition, long offset) throws IOException {
        return next(partition, Math.max(offset, begin(partition)), end(partition));
    }

    /** The last record. */
    public Optional<RecordHeader> last(int partition) throws IOException {
        long begin = begin(partition);
        long end = end(partition);
        // Markers of transactions take offsets, too.
        for (long back = 1; end - back >= begin || back / 2 < end - begin; back *= 2) {
            long from = Math.max(begin, end - back);
            Optional<RecordHeader> found = Optional.empty();
            for (Optional<RecordHeader> next = next(partition, from, end); next.isPresent(); ) {
                found = next;
                next = next(partition, position, end);
            }
            if (found.isPresent() || from == begin) {
                return found;
            }
        }
        return Optional.empty();
    }

    /** After the record that {@link #next} found last. */
    private long position;

    private Optional<RecordHeader> next(int partition, long from, long end) throws IOException {
        TopicPartition place = new TopicPartition(target.topic(), partition);
        try {
            if (from >= end) {
                return Optional.empty();
            }
            consumer.assign(List.of(place));
            consumer.seek(place, from);
            long deadline = System.nanoTime() + WAIT.toNanos();
            while (consumer.position(place) < end) {
                List<ConsumerRecord<byte[], byte[]>> records =
                        consumer.poll(POLL).records(place);
                if (!records.isEmpty()) {
                    ConsumerRecord<byte[], byte[]> record = records.get(0);
                    position = record.offset() + 1;
                    return Optional.of(header(record));
                }
                if (System.nanoTime() > deadline) {
                    throw new TopicException(target + ", partition " + partition + ": no record came from offset "
                            + from + " on within " + WAIT.toSeconds() + " s, although the partition ends at " + end);
                }
            }
            return Optional.empty();
        } catch (KafkaException e) {
            throw failed(partition, e);
        }
    }

    private RecordHeader header(ConsumerRecord<byte[], byte[]> record) throws StokerException {
        Map<String, byte[]> headers = new HashMap<>();
        for (Header header : record.headers()) {
            headers.put(header.key(), header.value());
        }
        return RecordHeader.read(headers, target + ", partition " + record.partition() + ", offset " + record.offset());
    }

    private TopicException failed(int partition, KafkaException e) {
        return BrokerTrouble.of(
                target.topic(),
                target.bootstrap(),
                e,
                target + ", partition " + partition + " cannot be read: " + e.getMessage());
    }

    @Override
    public void close() {
        consumer.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(Duration.ofSeconds(2)));
    }
}
