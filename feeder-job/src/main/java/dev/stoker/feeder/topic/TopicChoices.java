package dev.stoker.feeder.topic;

import dev.stoker.connectors.kafka.KafkaTarget;
import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.follow.EpochVersions;
import dev.stoker.schemas.dataset.EpochChoice;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.StreamOrder;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.time.InstantSource;
import java.util.OptionalLong;

/**
 * The versions that the epochs of a topic were given, where the feed follows its dataset. They stand beside those of
 * groups of trainers, a topic being one, and before any record of their epoch: so that they tell this feed's topic from
 * another's. One thread.
 */
final class TopicChoices implements TopicFeedStart.Check, AutoCloseable {
    private final FeedPlan feed;
    private final KafkaTarget target;
    private final FeedPlan.Stream stream;
    private final ObjectStore store;
    private final Dataset dataset;
    private final EpochVersions versions;

    private TopicChoices(FeedPlan feed, KafkaTarget target, ObjectStore store) throws IOException {
        this.feed = feed;
        this.target = target;
        this.stream = feed.streams().get(0);
        this.store = store;
        this.dataset = Dataset.open(store);
        this.versions = new EpochVersions(
                dataset, new EpochChoice.Pass(feed.id(), stream.name(), group(target.topic())), InstantSource.system());
    }

    /** @throws IOException if the dataset cannot be opened */
    static TopicChoices open(FeedPlan feed, KafkaTarget target) throws IOException {
        ObjectStore store = Stores.open(feed.streams().get(0).path());
        try {
            return new TopicChoices(feed, target, store);
        } catch (IOException | RuntimeException e) {
            store.close();
            throw e;
        }
    }

    /** What a topic is called among the groups of a stream. */
    static String group(String topic) {
        return "kafka:" + topic;
    }

    /**
     * The version of the first epoch, on which depends how many lanes there are: the chosen one, or that of the feed's
     * start.
     */
    long first() throws IOException {
        return versions.find(0).orElse(stream.version());
    }

    /** Writes the first epoch's version down. */
    void begin() throws IOException {
        versions.choose(0, OptionalLong.of(first()), version -> {});
    }

    /** The lanes at a version; no later one has fewer. */
    int lanes(long version) throws IOException {
        return StreamOrder.lanes(dataset.snapshot(version).stream(stream.split()), OrderSpec.fromJson(feed.order()));
    }

    @Override
    public void require(int lane, RecordHeader last) throws IOException {
        OptionalLong chosen = versions.find(last.epoch());
        if (chosen.isEmpty()) {
            throw foreign(lane, "feed " + feed.name() + " has chosen no version for its epoch " + last.epoch());
        }
        if (chosen.getAsLong() != last.version()) {
            throw foreign(
                    lane,
                    "its epoch " + last.epoch() + " is of version " + last.version() + ", feed " + feed.name()
                            + " has chosen " + chosen.getAsLong());
        }
        Fingerprint mine = Fingerprint.of(
                stream.dataset(),
                last.version(),
                stream.split(),
                dataset.snapshot(last.version()).stream(stream.split()),
                OrderSpec.fromJson(feed.order()));
        if (!last.fingerprint().equals(mine)) {
            throw foreign(
                    lane,
                    "the fingerprint of its epoch " + last.epoch() + " is " + last.fingerprint() + ", this feed's is "
                            + mine);
        }
    }

    private TopicException foreign(int lane, String why) {
        return new TopicException(target + ", partition " + lane + ", holds another feed: " + why
                + ": give name and options of the feed that wrote it, another topic with --topic NAME, or"
                + " delete this one");
    }

    @Override
    public void close() throws IOException {
        store.close();
    }
}
