package dev.stoker.connectors.kafka;

import java.time.Duration;

/**
 * What a feed needs of its topic.
 *
 * @param partitions one for each lane
 * @param epochBytes bytes of an epoch in the partition that takes most of it, roughly
 * @param epochTime how long an epoch may take
 * @param replication copies of a topic that is created; -1 for the brokers' default
 */
public record TopicNeeds(int partitions, long epochBytes, Duration epochTime, int replication) {
    public TopicNeeds {
        if (partitions < 1 || epochBytes < 0 || epochTime.isNegative() || replication == 0 || replication < -1) {
            throw new IllegalArgumentException("no needs: " + partitions + " partitions, " + epochBytes
                    + " bytes an epoch, " + epochTime + ", replication factor " + replication);
        }
    }
}
