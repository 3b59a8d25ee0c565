package dev.stoker.feeder.kafka;

import dev.stoker.feeder.FeedPlan;
import dev.stoker.feeder.node.StreamContent;
import dev.stoker.feeder.node.window.GroupOrder;
import dev.stoker.feeder.node.window.ServedStream;
import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.arrow.ScalarType;
import dev.stoker.schemas.kafka.EpochCounts;
import dev.stoker.schemas.kafka.TopicInfo;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Says what a feed says of itself in its topic. */
final class TopicInfos {
    private TopicInfos() {}

    /** @throws IOException if it does not fit into a record, or the stream has no sample */
    static TopicInfo of(KafkaPlan plan, StreamContent content) throws IOException {
        FeedPlan feed = plan.feed();
        GroupOrder order = content.order();
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
                plan.values().said());
        if (info.size().samples() == 0) {
            throw new IOException("stream " + stream.name() + " has no sample: there is nothing to write to a topic");
        }
        int bytes = info.value(Integer.MAX_VALUE, Long.MAX_VALUE, EpochCounts.NONE).length;
        if (bytes > plan.target().maxRecordBytes()) {
            throw new IOException("the description of stream " + stream.name() + " takes " + bytes
                    + " bytes in a record, the limit is "
                    + plan.target().maxRecordBytes() + ": start the feed with --max-record-bytes " + bytes
                    + " or more");
        }
        return info;
    }
}
