package dev.stoker.ingest.topic;

import dev.stoker.connectors.kafka.KafkaBroker;
import dev.stoker.connectors.kafka.TopicLocation;
import dev.stoker.connectors.kafka.source.SourceTopic;
import dev.stoker.connectors.shared.SharedKafka;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A topic of a test's broker, and the records written to it. */
final class Topic {

    private final KafkaBroker broker;
    private final String name;

    private Topic(KafkaBroker broker, String name) {
        this.broker = broker;
        this.name = name;
    }

    /** A new one of the shared broker. */
    static Topic create(String name, int partitions) throws Exception {
        return create(SharedKafka.broker(), name, partitions);
    }

    static Topic create(KafkaBroker broker, String name, int partitions) throws Exception {
        try (Admin admin = admin(broker)) {
            admin.createTopics(List.of(new NewTopic(name, partitions, (short) 1)))
                    .all()
                    .get(60, TimeUnit.SECONDS);
            awaitKnown(admin, name);
        }
        return new Topic(broker, name);
    }

    /** The broker learns of a topic a moment after its controller. */
    private static void awaitKnown(Admin admin, String name) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
        while (true) {
            try {
                admin.describeTopics(List.of(name)).allTopicNames().get(60, TimeUnit.SECONDS);
                return;
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof UnknownTopicOrPartitionException) || System.nanoTime() > deadline) {
                    throw e;
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
            }
        }
    }

    private static Admin admin(KafkaBroker broker) {
        return Admin.create(Map.of("bootstrap.servers", broker.bootstrap()));
    }

    String uri() {
        return "kafka://" + broker.bootstrap() + "/" + name;
    }

    void delete() throws Exception {
        try (Admin admin = admin(broker)) {
            admin.deleteTopics(List.of(name)).all().get(60, TimeUnit.SECONDS);
        }
    }

    /** As retention does it. */
    void deleteBefore(int partition, long offset) throws Exception {
        try (Admin admin = admin(broker)) {
            admin.deleteRecords(Map.of(new TopicPartition(name, partition), RecordsToDelete.beforeOffset(offset)))
                    .all()
                    .get(60, TimeUnit.SECONDS);
        }
    }

    /**
     * Waits until partition 0 ends at this offset for readers of committed records: transaction markers arrive with a
     * delay.
     */
    void awaitEnd(long offset) throws Exception {
        await(offset, source -> source.ends(1).get(0));
    }

    /** Waits until partition 0 ends at this offset, also for readers of open transactions. */
    void awaitWritten(long offset) throws Exception {
        await(offset, source -> source.written(1).get(0));
    }

    /** The end of a partition. */
    @FunctionalInterface
    private interface End {
        long of(SourceTopic source) throws IOException;
    }

    private void await(long offset, End found) throws Exception {
        try (SourceTopic source = new SourceTopic(TopicLocation.parse(uri(), Optional.empty()))) {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
            for (long end = found.of(source); end != offset; end = found.of(source)) {
                if (System.nanoTime() > deadline) {
                    throw new AssertionError(name + " ends at " + end + ", not at " + offset);
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
            }
        }
    }

    KafkaProducer<byte[], byte[]> producer(Map<String, Object> settings) {
        Map<String, Object> all = new HashMap<>(settings);
        all.put("bootstrap.servers", broker.bootstrap());
        all.putIfAbsent("linger.ms", "5");
        return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
    }

    ProducerRecord<byte[], byte[]> record(int partition, String key, String value) {
        return new ProducerRecord<>(name, partition, bytes(key), bytes(value));
    }

    /** A record with a time. */
    ProducerRecord<byte[], byte[]> record(int partition, long timestampMs, String key, byte[] value) {
        return new ProducerRecord<>(name, partition, timestampMs, bytes(key), value);
    }

    static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    void send(List<ProducerRecord<byte[], byte[]>> records) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer(Map.of())) {
            send(producer, records);
        }
    }

    static void send(KafkaProducer<byte[], byte[]> producer, List<ProducerRecord<byte[], byte[]>> records)
            throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (ProducerRecord<byte[], byte[]> record : records) {
            sent.add(producer.send(record));
        }
        producer.flush();
        for (Future<RecordMetadata> future : sent) {
            future.get(60, TimeUnit.SECONDS);
        }
    }

    void sendValues(int partition, String... values) throws Exception {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (String value : values) {
            records.add(record(partition, null, value));
        }
        send(records);
    }
}
