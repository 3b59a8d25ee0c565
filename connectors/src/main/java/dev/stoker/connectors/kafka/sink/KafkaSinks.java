package dev.stoker.connectors.kafka.sink;

import dev.stoker.connectors.kafka.KafkaTarget;
import dev.stoker.connectors.kafka.TopicRecord;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.lineage.DefaultKafkaDatasetFacet;
import org.apache.flink.connector.kafka.lineage.DefaultKafkaDatasetIdentifier;
import org.apache.flink.connector.kafka.lineage.KafkaDatasetFacet;
import org.apache.flink.connector.kafka.lineage.KafkaDatasetFacetProvider;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaSinkBuilder;
import org.apache.flink.connector.kafka.sink.TransactionNamingStrategy;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Builds the sink of a feed's records. */
public final class KafkaSinks {

    private KafkaSinks() {}

    /**
     * Returns a sink that writes each record to its partition: at least once, or exactly once in transactions. For
     * exactly once, its operators must be chained, and the job must continue after a restart from the contents of the
     * topic.
     *
     * @param transactionalIdPrefix the prefix of the ids of transactions; no other job may use it
     * @throws IOException if the clients' settings cannot be read
     */
    public static Sink<TopicRecord> create(KafkaTarget target, String transactionalIdPrefix) throws IOException {
        Properties settings = target.clients();
        settings.setProperty(ProducerConfig.ACKS_CONFIG, "all");
        settings.setProperty(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        settings.setProperty(ProducerConfig.COMPRESSION_TYPE_CONFIG, "none");
        // A request is a record batch of each partition: one large record, or as many small ones as fill it. With
        // Kafka's default of 16 KiB for a batch, every record is larger than a batch: each gets fresh, zeroed memory
        // and its own request. A batch of this size is reused from the producer's pool. Larger requests would
        // need other limits on the brokers.
        int request = Math.max(1 << 20, target.maxRecordBytes() + KafkaTarget.OVERHEAD_BYTES);
        settings.setProperty(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Integer.toString(request));
        settings.putIfAbsent(ProducerConfig.BATCH_SIZE_CONFIG, Integer.toString(request));
        settings.putIfAbsent(ProducerConfig.LINGER_MS_CONFIG, "5");
        settings.putIfAbsent(ProducerConfig.BUFFER_MEMORY_CONFIG, Long.toString(Math.max(64L << 20, 4L * request)));
        settings.putIfAbsent(ProducerConfig.SEND_BUFFER_CONFIG, Integer.toString(1 << 20));
        // The producer waits for unavailable brokers; a restart would only lose its unsent records.
        settings.putIfAbsent(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Integer.toString(Integer.MAX_VALUE));
        settings.putIfAbsent(ProducerConfig.MAX_BLOCK_MS_CONFIG, Integer.toString(Integer.MAX_VALUE));
        KafkaSinkBuilder<TopicRecord> builder = KafkaSink.<TopicRecord>builder()
                .setKafkaProducerConfig(settings)
                .setBootstrapServers(target.bootstrap())
                .setRecordSerializer(new Serializer(target.topic()));
        if (target.exactlyOnce()) {
            builder.setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
                    .setTransactionalIdPrefix(transactionalIdPrefix)
                    .setTransactionNamingStrategy(TransactionNamingStrategy.POOLING)
                    .setProperty(
                            ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, Long.toString(target.transactionTimeoutMs()));
        } else {
            builder.setDeliveryGuarantee(DeliveryGuarantee.AT_LEAST_ONCE);
        }
        return new StrictSink(builder.build(), target);
    }

    /**
     * Converts records for Kafka's producer. Names the topic, because a pooling sink looks for the topic's open
     * transactions.
     */
    private static final class Serializer
            implements KafkaRecordSerializationSchema<TopicRecord>, KafkaDatasetFacetProvider {
        private static final long serialVersionUID = 1;

        private final String topic;

        Serializer(String topic) {
            this.topic = topic;
        }

        @Override
        public Optional<KafkaDatasetFacet> getKafkaDatasetFacet() {
            return Optional.of(new DefaultKafkaDatasetFacet(DefaultKafkaDatasetIdentifier.ofTopics(List.of(topic))));
        }

        @Override
        public ProducerRecord<byte[], byte[]> serialize(TopicRecord record, KafkaSinkContext context, Long timestamp) {
            ProducerRecord<byte[], byte[]> result =
                    new ProducerRecord<>(topic, record.partition(), null, null, record.value());
            record.headers().forEach((name, value) -> result.headers().add(name, value));
            return result;
        }
    }
}
