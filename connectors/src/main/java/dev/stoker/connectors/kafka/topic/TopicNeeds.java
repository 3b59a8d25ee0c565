package dev.stoker.connectors.kafka.topic;

import java.time.Duration;

/**
 * The requirements of a feed on its topic.
 *
 * @param partitions one for each lane
 * @param epochBytes the approximate bytes of an epoch in its largest partition
 * @param epochTime how long an epoch may take
 * @param replication the replication factor of a new topic; -1 for the brokers' default
 */
public record TopicNeeds(int partitions, long epochBytes, Duration epochTime, int replication) {
    public TopicNeeds {
        if (partitions < 1 || epochBytes < 0 || epochTime.isNegative() || replication == 0 || replication < -1) {
            throw new IllegalArgumentException("invalid requirements: " + partitions + " partitions, " + epochBytes
                    + " bytes an epoch, " + epochTime + ", replication factor " + replication);
        }
    }
}
