package dev.stoker.feeder.topic;

import dev.stoker.connectors.kafka.KafkaTarget;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.plan.InvalidFeedException;
import dev.stoker.schemas.kafka.TopicInfo;
import dev.stoker.schemas.kafka.ValueFormat;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The plan of a feed to a topic, with everything resolved. It is part of the job graph.
 *
 * @param feed the feed; its first stream is written
 * @param target the topic
 * @param worldSize number of ranks that read the topic
 * @param throttle how far the feed may be ahead of which consumer groups
 * @param epochTimeMs maximum time that trainers take for an epoch
 * @param replication replication factor of a topic that the feed creates; -1 for the default of the brokers
 * @param values the format of the records
 */
public record TopicFeedPlan(
        FeedPlan feed,
        KafkaTarget target,
        int worldSize,
        Throttle throttle,
        long epochTimeMs,
        int replication,
        Values values)
        implements Serializable {

    /**
     * The format of batch records.
     *
     * @param format the format
     * @param registry URL of the schema registry that knows the schema of the samples; null for none
     * @param schemaId id of the schema in the registry; -1 before the registry was asked, or if there is no registry
     */
    public record Values(ValueFormat format, @Nullable String registry, int schemaId) implements Serializable {
        private static final long serialVersionUID = 1;

        TopicInfo.Values said() {
            return new TopicInfo.Values(format, schemaId < 0 ? OptionalInt.empty() : OptionalInt.of(schemaId));
        }
    }

    /**
     * How far a feed may be ahead of its consumers.
     *
     * @param groups consumer groups that throttle the feed; may be empty
     * @param epochsAhead number of epochs ahead of the slowest group
     * @param bytesAhead number of bytes ahead of it, over all partitions; 0 for no limit
     */
    public record Throttle(List<String> groups, int epochsAhead, long bytesAhead) implements Serializable {
        public Throttle {
            groups = List.copyOf(groups);
            if (epochsAhead < 0 || bytesAhead < 0) {
                throw new IllegalArgumentException(
                        "invalid limits of the throttle: " + epochsAhead + " epochs, " + bytesAhead + " bytes");
            }
        }
    }

    /**
     * Resolves the options of a feed to a topic. Opens the dataset once more if it has fewer chunks than lanes.
     *
     * @throws InvalidFeedException if ranks would read each other's partitions and that is not allowed
     * @throws IOException if the dataset cannot be opened
     */
    public static TopicFeedPlan of(TopicFeedOptions options) throws IOException {
        return TopicFeedResolution.plan(options);
    }

    /** Returns how many times the ranks together read each record; 1 unless more is allowed. */
    public int readAmplification() {
        return ReadAmplification.factor(
                lanes(), OrderSpec.fromJson(feed.order()).laneOrder(), worldSize);
    }

    /** Returns the plan as text. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add("writing to " + target + ": " + Units.plural(lanes(), "partition") + " for "
                + Units.plural(worldSize, "rank") + ", " + (target.exactlyOnce() ? "exactly once" : "at least once"));
        if (readAmplification() > 1) {
            lines.add("ranks read each other's partitions: " + readAmplification() + " times what they need, together");
        }
        return lines;
    }

    /** Returns this plan with the id that the registry gave the schema. */
    TopicFeedPlan withSchema(int id) {
        Values known = new Values(values.format(), values.registry(), id);
        return new TopicFeedPlan(feed, target, worldSize, throttle, epochTimeMs, replication, known);
    }

    /** Returns whether each epoch reads the newest version of the dataset. */
    boolean follows() {
        return feed.streams().get(0).follow();
    }

    /** Returns the number of lanes of the stream, which is the number of partitions of the topic. */
    public int lanes() {
        return feed.streams().get(0).lanes();
    }
}
