package dev.stoker.feeder.kafka;

import dev.stoker.connectors.kafka.KafkaTarget;
import dev.stoker.feeder.FeedPlan;
import dev.stoker.schemas.kafka.TopicInfo;
import dev.stoker.schemas.kafka.ValueFormat;
import java.io.Serializable;
import java.util.List;
import java.util.OptionalInt;

/**
 * A feed to a topic with everything resolved. It travels in the job graph.
 *
 * @param feed the feed; its first stream is written
 * @param target the topic
 * @param worldSize ranks that read it
 * @param pace how far it goes ahead of whom
 * @param epochTimeMs how long trainers may take for an epoch
 * @param replication copies of a topic that is created; -1 for the brokers' default
 * @param values what records hold
 */
public record KafkaPlan(
        FeedPlan feed, KafkaTarget target, int worldSize, Pace pace, long epochTimeMs, int replication, Values values)
        implements Serializable {

    /**
     * What batch records hold.
     *
     * @param format the format
     * @param registry URL of the registry that knows the schema of samples; null for none
     * @param schemaId what that calls it; -1 as long as it was not asked, or there is none
     */
    public record Values(ValueFormat format, String registry, int schemaId) implements Serializable {
        private static final long serialVersionUID = 1;

        TopicInfo.Values said() {
            return new TopicInfo.Values(format, schemaId < 0 ? OptionalInt.empty() : OptionalInt.of(schemaId));
        }
    }

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

    /** The plan, when the registry has told the schema's id. */
    KafkaPlan withSchema(int id) {
        Values known = new Values(values.format(), values.registry(), id);
        return new KafkaPlan(feed, target, worldSize, pace, epochTimeMs, replication, known);
    }

    /** Whether each epoch takes the dataset's newest version. */
    boolean follows() {
        return feed.streams().get(0).follow();
    }

    /** Lanes of the stream, which are the topic's partitions. */
    public int lanes() {
        return feed.streams().get(0).lanes();
    }
}
