package dev.stoker.feeder.kafka;

import dev.stoker.connectors.kafka.KafkaTarget;
import dev.stoker.feeder.FeedPlan;
import java.io.Serializable;
import java.util.List;

/**
 * A feed to a topic with everything resolved. It travels in the job graph.
 *
 * @param feed the feed; its first stream is written
 * @param target the topic
 * @param worldSize ranks that read it
 * @param pace how far it goes ahead of whom
 * @param epochTimeMs how long trainers may take for an epoch
 * @param replication copies of a topic that is created; -1 for the brokers' default
 */
public record KafkaPlan(FeedPlan feed, KafkaTarget target, int worldSize, Pace pace, long epochTimeMs, int replication)
        implements Serializable {

    /**
     * How far a feed goes ahead.
     *
     * @param groups consumer groups that it waits for; empty for none
     * @param epochsAhead epochs in front of the slowest of them
     * @param bytesAhead bytes in front of it, over all partitions; 0 for no limit
     */
    public record Pace(List<String> groups, int epochsAhead, long bytesAhead) implements Serializable {
        public Pace {
            groups = List.copyOf(groups);
            if (epochsAhead < 0 || bytesAhead < 0) {
                throw new IllegalArgumentException("no pace: " + epochsAhead + " epochs, " + bytesAhead + " bytes");
            }
        }
    }

    /** Lanes of the stream, which are the topic's partitions. */
    public int lanes() {
        return feed.streams().get(0).lanes();
    }
}
