package dev.stoker.feeder.topic;

import dev.stoker.connectors.kafka.KafkaTarget;
import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.connectors.kafka.topic.TopicCheck;
import dev.stoker.connectors.kafka.topic.TopicReader;
import dev.stoker.schemas.kafka.EpochCounts;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.kafka.RecordPosition;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Determines where lanes begin in a topic. A feed without a state resumes with the epoch in which a partition ends,
 * from the beginning of that epoch. Consumers discard the duplicates. Waits for brokers.
 */
final class TopicFeedStart {
    /** Rejects records of another feed. */
    interface Check {
        /** @param last the last record of a lane */
        void require(int lane, RecordHeader last) throws IOException;
    }

    private TopicFeedStart() {}

    /** Returns the check of a feed that reads a single version. */
    static Check pinned(KafkaTarget target, String fingerprint) {
        return (lane, last) -> {
            if (!last.fingerprint().text().equals(fingerprint)) {
                throw new TopicException(target + ", partition " + lane + ", holds another feed: its fingerprint is "
                        + last.fingerprint() + ", this feed's is " + fingerprint
                        + ": give another topic with --topic NAME, or delete this one");
            }
        };
    }

    /** Returns the lanes of a feed that has no state. */
    static KafkaLaneState fresh(TopicFeedPlan plan, Check own) throws IOException {
        KafkaTarget target = plan.target();
        List<KafkaLane> found = new ArrayList<>();
        try (TopicCheck topic = new TopicCheck(target);
                TopicReader reader = new TopicReader(target)) {
            String id = topic.id();
            for (int lane = 0; lane < plan.lanes(); lane++) {
                found.add(after(plan, lane, reader.last(lane), own));
            }
            return new KafkaLaneState(id, found);
        }
    }

    static KafkaLane after(TopicFeedPlan plan, int lane, Optional<RecordHeader> last, Check own) throws IOException {
        if (last.isEmpty()) {
            return KafkaLane.fresh(lane);
        }
        RecordHeader header = last.get();
        KafkaTarget target = plan.target();
        if (header.values() != plan.values().format()) {
            throw new TopicException(target + " holds records of --value-format "
                    + header.values().text() + ", this feed writes "
                    + plan.values().format().text()
                    + ": give the same one, or another topic with --topic NAME");
        }
        own.require(lane, header);
        return again(header, lane, plan.follows());
    }

    /**
     * Returns the lane at the beginning of the epoch in which the partition ends, because the counts of an epoch begin
     * there.
     */
    static KafkaLane again(RecordHeader last, int lane, boolean isFollowed) {
        boolean isOver = last.kind() == RecordKind.EPOCH_END;
        return new KafkaLane(
                lane,
                RecordPosition.begin(isOver ? last.epoch() + 1 : last.epoch()),
                EpochCounts.NONE,
                isOver || !isFollowed ? 0 : last.version());
    }

    /** Fails if the topic is not the one for which the state was written. */
    static void require(KafkaTarget target, String topicId) throws IOException {
        try (TopicCheck topic = new TopicCheck(target)) {
            topic.require(topicId);
        }
    }
}
