package dev.stoker.feeder.topic;

import dev.stoker.feeder.plan.FeedOptions;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.plan.InvalidFeedException;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.util.List;

/** Resolves the options of a feed to a topic: counts the lanes that its ranks share. */
final class TopicFeedResolution {

    private TopicFeedResolution() {}

    static TopicFeedPlan plan(TopicFeedOptions options) throws IOException {
        int worldSize = options.worldSize();
        boolean follows = options.feed().following() == FeedOptions.Following.FOLLOWS;
        FeedPlan feed = FeedPlan.of(options.feed());
        int lanes = lanes(options, feed);
        if (options.lanes().isFree() && lanes > worldSize && lanes % worldSize != 0) {
            // There are fewer chunks than lanes: reduce the lanes to a number that the ranks can share.
            lanes -= lanes % worldSize;
            feed = follows ? feed : FeedPlan.of(options.feed().withLanes(lanes));
        }
        if (follows) {
            // The dataset is not opened again, because a newer version could have more lanes.
            feed = feed.withLanes(lanes);
        }
        LaneOrder order = OrderSpec.fromJson(feed.order()).laneOrder();
        int factor = ReadAmplification.factor(lanes, order, worldSize);
        if (factor > 1 && !options.lanes().mayAmplify()) {
            throw new InvalidFeedException(List.of(refusal(lanes, order, worldSize, factor)));
        }
        return new TopicFeedPlan(
                feed,
                options.target(),
                worldSize,
                options.throttle(),
                options.epochTime().toMillis(),
                options.replication(),
                options.values());
    }

    /**
     * Returns the number of lanes of the topic. Later versions have more chunks and could have more lanes, but the
     * topic keeps the lanes of its first version.
     */
    private static int lanes(TopicFeedOptions options, FeedPlan feed) throws IOException {
        if (options.feed().following() == FeedOptions.Following.PINNED) {
            return feed.streams().get(0).lanes();
        }
        try (TopicChoices choices = TopicChoices.open(feed, options.target())) {
            return choices.lanes(choices.first());
        }
    }

    private static String refusal(int lanes, LaneOrder order, int worldSize, int factor) {
        String why = order == LaneOrder.MIXED
                ? "lane order is mixed"
                : Units.plural(lanes, "lane") + " are not a multiple of " + Units.plural(worldSize, "rank");
        String what = lanes < worldSize
                ? "the stream has only " + Units.plural(lanes, "lane")
                : "give --lane-order fixed and --lanes " + (lanes - lanes % worldSize);
        return why + ", so that ranks would read each other's partitions, " + factor + " times what they need: " + what
                + "; or accept it with --allow-read-amplification";
    }
}
