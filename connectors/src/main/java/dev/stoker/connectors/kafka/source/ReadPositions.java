package dev.stoker.connectors.kafka.source;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * The positions to which a poll has moved a consumer. They can be behind the last record: markers of transactions and
 * aborted records follow it. Kafka's reader of splits tells only the offsets of records, so the consumer notes the
 * positions through an interceptor. Used by the fetcher's thread.
 */
final class ReadPositions {
    private static final String KEY = "stoker.positions";

    private final Map<TopicPartition, Long> positions = new HashMap<>();

    /** Returns the settings of a consumer that notes its positions here. Interceptors of the user stay. */
    Properties of(Properties consumer) {
        Properties settings = new Properties();
        settings.putAll(consumer);
        settings.put(KEY, this);
        List<String> interceptors = new ArrayList<>();
        String others = consumer.getProperty(ConsumerConfig.INTERCEPTOR_CLASSES_CONFIG, "");
        if (!others.isBlank()) {
            interceptors.add(others);
        }
        interceptors.add(Interceptor.class.getName());
        settings.setProperty(ConsumerConfig.INTERCEPTOR_CLASSES_CONFIG, String.join(",", interceptors));
        return settings;
    }

    void note(TopicPartition partition, long position) {
        positions.put(partition, position);
    }

    /** Returns the positions since the last call. */
    Map<TopicPartition, Long> take() {
        Map<TopicPartition, Long> taken = new HashMap<>(positions);
        positions.clear();
        return taken;
    }

    /** Notes the positions after each poll. Kafka creates it by its name. */
    public static final class Interceptor implements ConsumerInterceptor<Object, Object> {
        private ReadPositions noted = new ReadPositions();

        @Override
        public void configure(Map<String, ?> settings) {
            if (settings.get(KEY) instanceof ReadPositions own) {
                noted = own;
            }
        }

        @Override
        public ConsumerRecords<Object, Object> onConsume(ConsumerRecords<Object, Object> records) {
            records.nextOffsets().forEach((partition, next) -> noted.note(partition, next.offset()));
            return records;
        }

        @Override
        public void onCommit(Map<TopicPartition, OffsetAndMetadata> offsets) {}

        @Override
        public void close() {}
    }
}
