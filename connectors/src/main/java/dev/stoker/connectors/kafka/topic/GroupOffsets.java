package dev.stoker.connectors.kafka.topic;

import dev.stoker.connectors.kafka.BrokerErrors;
import dev.stoker.connectors.kafka.BrokersAwayException;
import dev.stoker.connectors.kafka.KafkaTarget;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** Reads the offsets that consumer groups have committed for a topic. One thread. */
public final class GroupOffsets implements AutoCloseable {
    private static final long WAIT_SECONDS = 20;

    private final KafkaTarget target;
    private final List<String> groups;
    private final Admin admin;

    /** @throws IOException if the clients' settings cannot be read */
    public GroupOffsets(KafkaTarget target, List<String> groups) throws IOException {
        Properties settings = target.clients();
        this.target = target;
        this.groups = List.copyOf(groups);
        this.admin = Admin.create(settings);
    }

    /**
     * The group that has committed least of a partition.
     *
     * @param group its name
     * @param offset its committed offset; -1 for none
     */
    public record Slowest(String group, long offset) {
        private Slowest or(Slowest other) {
            return other.offset < offset ? other : this;
        }
    }

    /** The group with the least committed offset, by partition; of several the first one named. */
    public Map<Integer, Slowest> slowest(int partitions) throws IOException {
        Map<Integer, Slowest> slowest = new HashMap<>();
        for (String group : groups) {
            Map<TopicPartition, OffsetAndMetadata> offsets = committed(group);
            for (int partition = 0; partition < partitions; partition++) {
                OffsetAndMetadata offset = offsets.get(new TopicPartition(target.topic(), partition));
                slowest.merge(partition, new Slowest(group, offset == null ? -1L : offset.offset()), Slowest::or);
            }
        }
        return slowest;
    }

    private Map<TopicPartition, OffsetAndMetadata> committed(String group) throws IOException {
        try {
            return admin.listConsumerGroupOffsets(group)
                    .partitionsToOffsetAndMetadata()
                    .get(WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BrokersAwayException(target + ": interrupted while waiting for the brokers", e);
        } catch (ExecutionException | TimeoutException e) {
            throw BrokerErrors.of(
                    target.topic(),
                    target.bootstrap(),
                    e,
                    target + ": the offsets of group " + group + " cannot be read: " + e);
        }
    }

    @Override
    public void close() {
        admin.close(Duration.ofSeconds(2));
    }
}
