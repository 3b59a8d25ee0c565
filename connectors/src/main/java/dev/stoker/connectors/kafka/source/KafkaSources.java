package dev.stoker.connectors.kafka.source;

import dev.stoker.connectors.kafka.SourceRecord;
import dev.stoker.connectors.kafka.SourceRecordSerializer;
import dev.stoker.connectors.kafka.TopicLocation;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.KafkaSourceOptions;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;

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
    public static Source<SourceRecord, ?, ?> create(
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
        // Fetched records stay in the heap until they are packed, and each garbage collection copies them.
        settings.putIfAbsent(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, Integer.toString(8 << 20));
        settings.putIfAbsent(ConsumerConfig.RECEIVE_BUFFER_CONFIG, Integer.toString(1 << 20));
        KafkaSourceBuilder<SourceRecord> builder = KafkaSource.<SourceRecord>builder()
                .setProperties(settings)
                .setBootstrapServers(location.bootstrap())
                .setTopics(location.topic())
                .setStartingOffsets(
                        OffsetsInitializer.offsets(offsets(location.topic(), start), OffsetResetStrategy.NONE))
                .setDeserializer(new Deserializer());
        until.ifPresent(end -> builder.setBounded(
                OffsetsInitializer.offsets(offsets(location.topic(), end), OffsetResetStrategy.NONE)));
        return new StrictSource(builder.build(), location.toString());
    }

    private static Map<TopicPartition, Long> offsets(String topic, Map<Integer, Long> byPartition) {
        Map<TopicPartition, Long> offsets = new HashMap<>();
        byPartition.forEach((partition, offset) -> offsets.put(new TopicPartition(topic, partition), offset));
        return offsets;
    }

    static SourceRecord record(ConsumerRecord<byte[], byte[]> record) {
        Header[] own = record.headers().toArray();
        SourceRecord.Header[] headers = new SourceRecord.Header[own.length];
        for (int i = 0; i < own.length; i++) {
            headers[i] = new SourceRecord.Header(own[i].key(), own[i].value());
        }
        return new SourceRecord(
                record.partition(),
                record.offset(),
                record.timestamp(),
                record.key(),
                record.value(),
                List.of(headers));
    }

    /** Passes records on unchanged. */
    private static final class Deserializer implements KafkaRecordDeserializationSchema<SourceRecord> {
        private static final long serialVersionUID = 1;

        @Override
        public void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<SourceRecord> out) {
            out.collect(record(record));
        }

        @Override
        public TypeInformation<SourceRecord> getProducedType() {
            return SourceRecordSerializer.TYPE;
        }
    }
}
