package dev.stoker.feeder.topic;

import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.kafka.EpochCounts;
import dev.stoker.schemas.kafka.TopicInfo;
import dev.stoker.schemas.text.Units;
import dev.stoker.server.window.GroupOrder;
import dev.stoker.server.window.ServedStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** Creates the description of a feed that is written to its topic. */
final class TopicInfos {
    private TopicInfos() {}

    /**
     * Describes a version of the feed. The caller adds the epoch if each epoch reads a separate version.
     *
     * @throws IOException if the description does not fit into a record, the stream has no samples, or its number of
     *     lanes differs from the topic's
     */
    static TopicInfo of(TopicFeedPlan plan, GroupOrder order) throws IOException {
        FeedPlan feed = plan.feed();
        ServedStream stream = order.stream();
        Map<String, List<String>> classes = new LinkedHashMap<>();
        for (Field field : stream.fields()) {
            if (field.type() == ScalarType.CATEGORICAL) {
                classes.put(field.name(), stream.classes().names(field.name()));
            }
        }
        TopicInfo info = new TopicInfo(
                feed.id(),
                feed.name(),
                stream.name(),
                stream.dataset(),
                stream.datasetName(),
                stream.version(),
                stream.split(),
                order.fingerprint(),
                order.spec(),
                stream.fields(),
                classes,
                Arrays.stream(order.order().laneRows()).boxed().toList(),
                feed.spec().epochs(),
                plan.target().maxRecordBytes(),
                plan.values().said(),
                OptionalLong.empty());
        if (order.order().lanes() != plan.lanes()) {
            throw new IOException("version " + stream.version() + " of stream " + stream.name() + " has "
                    + Units.plural(order.order().lanes(), "lane") + ", but the topic's partitions are for "
                    + plan.lanes()
                    + ": feed into a new topic");
        }
        if (info.size().samples() == 0) {
            throw new IOException("stream " + stream.name() + " has no sample in version " + stream.version()
                    + ", so there is nothing to write to a topic");
        }
        int bytes = (plan.follows() ? info.in(Long.MAX_VALUE) : info)
                .value(Integer.MAX_VALUE, Long.MAX_VALUE, EpochCounts.NONE)
                .length;
        if (bytes > plan.target().maxRecordBytes()) {
            throw new IOException("the description of stream " + stream.name() + " takes " + bytes
                    + " bytes in a record, the limit is "
                    + plan.target().maxRecordBytes() + ": start the feed with --max-record-bytes " + bytes
                    + " or more");
        }
        return info;
    }
}
