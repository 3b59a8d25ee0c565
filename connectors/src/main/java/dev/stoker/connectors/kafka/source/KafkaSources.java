package dev.stoker.connectors.kafka.source;

import dev.stoker.connectors.kafka.PartitionFetch;
import dev.stoker.connectors.kafka.TopicLocation;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.UUID;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.KafkaSourceOptions;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteBufferDeserializer;

/** Builds the source of a topic's committed records. */
public final class KafkaSources {

    private KafkaSources() {}

    /**
     * Returns a source that reads each committed record from a start offset on. If the brokers have deleted an offset,
     * the source fails instead of skipping records.
     *
     * @param start the first offset by partition; partitions that appear later are read from their beginning
     * @param until the offset by partition before which the source ends; empty for an unbounded source
     * @throws IOException if the clients' settings cannot be read
     */
    @SuppressWarnings("deprecation")
    public static Source<PartitionFetch, ?, ?> create(
            TopicLocation location, Map<Integer, Long> start, Optional<? extends Map<Integer, Long>> until)
            throws IOException {
        Properties settings = location.clients();
        settings.setProperty(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        settings.setProperty(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        settings.setProperty(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        // The dataset stores the positions; offsets of a consumer group could contradict them.
        settings.setProperty(KafkaSourceOptions.COMMIT_OFFSETS_ON_CHECKPOINT.key(), "false");
        // The clients wait for unavailable brokers; a restart would only repeat the request.
        settings.putIfAbsent(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, Integer.toString(Integer.MAX_VALUE));
        // Fetches stay in the heap until their records are packed, up to six for a task, and collections copy them.
        // Larger ones do not fit into the young generation that the launcher sets, and fill the old one. Smaller ones
        // cost the broker more.
        settings.putIfAbsent(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, Integer.toString(4 << 20));
        settings.putIfAbsent(ConsumerConfig.RECEIVE_BUFFER_CONFIG, Integer.toString(1 << 20));
        KafkaSourceBuilder<byte[]> builder = KafkaSource.<byte[]>builder()
                .setProperties(settings)
                .setBootstrapServers(location.bootstrap())
                .setTopics(location.topic())
                .setStartingOffsets(
                        OffsetsInitializer.offsets(offsets(location.topic(), start), OffsetResetStrategy.NONE))
                .setDeserializer(KafkaRecordDeserializationSchema.valueOnly(ByteArrayDeserializer.class));
        until.ifPresent(end -> builder.setBounded(
                OffsetsInitializer.offsets(offsets(location.topic(), end), OffsetResetStrategy.NONE)));
        return new StrictSource(builder.build(), consumer(location, settings), location.toString());
    }

    private static Properties consumer(TopicLocation location, Properties settings) {
        Properties consumer = new Properties();
        consumer.putAll(settings);
        consumer.setProperty(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, location.bootstrap());
        // Each split has its start; a partition whose offset is gone must not be read from another one.
        consumer.setProperty(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        consumer.putIfAbsent(
                KafkaSourceOptions.CLIENT_ID_PREFIX.key(), "stoker-" + location.topic() + "-" + UUID.randomUUID());
        // These return views of the fetch; the bytes are copied once, into a chunk.
        consumer.setProperty(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteBufferDeserializer.class.getName());
        consumer.setProperty(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteBufferDeserializer.class.getName());
        return consumer;
    }

    private static Map<TopicPartition, Long> offsets(String topic, Map<Integer, Long> byPartition) {
        Map<TopicPartition, Long> offsets = new HashMap<>();
        byPartition.forEach((partition, offset) -> offsets.put(new TopicPartition(topic, partition), offset));
        return offsets;
    }
}
