package dev.stoker.client.topic;

import dev.stoker.client.errors.FeedException;
import dev.stoker.client.source.ClientOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * A topic read with Kafka's consumer. Partitions are assigned by hand: there is no group to wait for, and no pause is
 * too long.
 */
final class KafkaLog implements TopicLog {
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final Duration ANSWER = Duration.ofSeconds(5);
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final String topic;
    /** The longest time that a request may take. */
    private final Duration answer;

    private final Consumer<byte[], byte[]> consumer;
    private final List<ConsumerRecord<byte[], byte[]>> looked = new ArrayList<>();
    private @Nullable String trouble = "";
    private boolean isAnswered = true;

    /** Opens a log for looking at single records. */
    static KafkaLog looking(TopicTarget target, ClientOptions options, Map<String, String> environment) {
        return new KafkaLog(
                target,
                options,
                environment,
                Map.of(
                        ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG,
                        "1",
                        // If the whole batch of records were handed out, the consumer would fetch the next one.
                        ConsumerConfig.MAX_POLL_RECORDS_CONFIG,
                        "1"));
    }

    /** Opens a log for reading sequentially. */
    static KafkaLog reading(TopicTarget target, ClientOptions options, Map<String, String> environment) {
        long fetched = Math.min(64L << 20, Math.max(1L << 20, options.bufferBytes() / 8));
        return new KafkaLog(
                target,
                options,
                environment,
                Map.of(
                        ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG,
                        Long.toString(Math.min(2L << 20, fetched)),
                        ConsumerConfig.FETCH_MAX_BYTES_CONFIG,
                        Long.toString(fetched),
                        ConsumerConfig.RECEIVE_BUFFER_CONFIG,
                        Integer.toString(2 << 20),
                        ConsumerConfig.MAX_POLL_RECORDS_CONFIG,
                        "32"));
    }

    private KafkaLog(
            TopicTarget target, ClientOptions options, Map<String, String> environment, Map<String, String> more) {
        this(target.topic(), options.connectTimeout(), consumer(target, options, environment, more));
    }

    /** Takes ownership of a consumer, which has no partitions. */
    KafkaLog(String topic, Duration connectTimeout, Consumer<byte[], byte[]> consumer) {
        this.topic = topic;
        this.answer = connectTimeout.compareTo(ANSWER) < 0 ? connectTimeout : ANSWER;
        this.consumer = consumer;
    }

    private static Consumer<byte[], byte[]> consumer(
            TopicTarget target, ClientOptions options, Map<String, String> environment, Map<String, String> more) {
        Properties settings = target.clients(environment);
        settings.setProperty(ConsumerConfig.GROUP_ID_CONFIG, options.group());
        settings.setProperty(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        settings.setProperty(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        settings.setProperty(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        settings.setProperty(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        settings.setProperty(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, "20");
        // The records' own checksum covers headers and value.
        settings.setProperty(ConsumerConfig.CHECK_CRCS_CONFIG, "false");
        more.forEach(settings::setProperty);
        try {
            return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        } catch (KafkaException e) {
            throw new IllegalArgumentException(target + ": " + deepest(e), e);
        }
    }

    private static @Nullable String deepest(Throwable e) {
        Throwable cause = e;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.getMessage();
    }

    private TopicPartition place(int partition) {
        return new TopicPartition(topic, partition);
    }

    private List<TopicPartition> places(Collection<Integer> partitions) {
        return partitions.stream().map(this::place).toList();
    }

    /** Asks the brokers. Empty while they do not answer. Permanent errors are thrown. */
    private <T> Optional<T> ask(Function<Consumer<byte[], byte[]>, T> question) {
        try {
            Optional<T> answer = Optional.ofNullable(question.apply(consumer));
            isAnswered = true;
            return answer;
        } catch (TimeoutException e) {
            isAnswered = false;
            trouble = "no broker answers";
            return Optional.empty();
        } catch (AuthenticationException | AuthorizationException e) {
            throw new FeedException("topic " + topic + ": the brokers refuse this client: " + e.getMessage(), e);
        } catch (KafkaException e) {
            isAnswered = true;
            trouble = e.getMessage();
            return Optional.empty();
        }
    }

    @Override
    public int partitions() {
        return ask(c -> c.partitionsFor(topic, answer))
                .map(List<PartitionInfo>::size)
                .orElse(0);
    }

    @Override
    public void readFrom(Map<Integer, Long> offsets) {
        consumer.assign(places(offsets.keySet()));
        // The consumer keeps the pause of a partition that was assigned before.
        consumer.resume(places(offsets.keySet()));
        offsets.forEach((partition, offset) -> consumer.seek(place(partition), offset));
    }

    @Override
    public void seek(int partition, long offset) {
        consumer.seek(place(partition), offset);
        consumer.resume(List.of(place(partition)));
    }

    @Override
    public void pause(Collection<Integer> partitions) {
        consumer.pause(places(partitions));
    }

    @Override
    public void resume(Collection<Integer> partitions) {
        consumer.resume(places(partitions));
    }

    @Override
    public Found poll(Duration most) {
        Set<Integer> lost = new HashSet<>();
        List<Entry> entries = new ArrayList<>();
        ask(c -> {
            try {
                c.poll(most).forEach(record -> entries.add(entry(record)));
            } catch (InvalidOffsetException e) {
                e.partitions().forEach(partition -> lost.add(partition.partition()));
            }
            return null;
        });
        return new Found(entries, lost);
    }

    private Entry entry(ConsumerRecord<byte[], byte[]> record) {
        Map<String, byte[]> headers = new HashMap<>();
        for (Header header : record.headers()) {
            headers.put(header.key(), header.value());
        }
        byte[] value = record.value() == null ? new byte[0] : record.value();
        trouble = "";
        return new Entry(record.partition(), record.offset(), headers, value);
    }

    @Override
    public void commit(Map<Integer, Long> offsets, Runnable lost) {
        boolean isSent = ask(c -> {
                    c.commitAsync(committed(offsets), (told, failure) -> {
                        if (failure != null) {
                            lost.run();
                        }
                    });
                    return true;
                })
                .isPresent();
        if (!isSent) {
            lost.run();
        }
    }

    @Override
    public void commitAndWait(Map<Integer, Long> offsets) {
        ask(c -> {
            c.commitSync(committed(offsets), SECOND);
            return null;
        });
    }

    private Map<TopicPartition, OffsetAndMetadata> committed(Map<Integer, Long> offsets) {
        Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();
        offsets.forEach((partition, offset) -> committed.put(place(partition), new OffsetAndMetadata(offset)));
        return committed;
    }

    @Override
    public Optional<Long> begin(int partition) {
        TopicPartition place = place(partition);
        return ask(c -> c.beginningOffsets(List.of(place), answer).get(place));
    }

    @Override
    public Optional<Long> end(int partition) {
        TopicPartition place = place(partition);
        return ask(c -> c.endOffsets(List.of(place), answer).get(place));
    }

    @Override
    public void look(int partition, long offset) {
        looked.clear();
        readFrom(Map.of(partition, offset));
    }

    @Override
    public Optional<Entry> next() {
        if (looked.isEmpty()) {
            ask(c -> {
                try {
                    c.poll(SHORT).forEach(looked::add);
                } catch (InvalidOffsetException e) {
                    // The record was deleted meanwhile: the search continues from the partition's present beginning.
                    c.seekToBeginning(e.partitions());
                }
                return null;
            });
        }
        return looked.isEmpty() ? Optional.empty() : Optional.of(entry(looked.remove(0)));
    }

    @Override
    public long position() {
        TopicPartition place = consumer.assignment().iterator().next();
        return looked.isEmpty()
                ? ask(c -> c.position(place, answer)).orElse(-1L)
                : looked.get(0).offset();
    }

    @Override
    public boolean isAnswered() {
        return isAnswered;
    }

    @Override
    public String trouble() {
        return trouble == null || trouble.isEmpty() ? "" : " (" + trouble + ")";
    }

    @Override
    public void close() {
        consumer.close(CloseOptions.timeout(SECOND));
    }
}
