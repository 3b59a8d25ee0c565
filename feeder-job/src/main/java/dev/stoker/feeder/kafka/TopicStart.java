package dev.stoker.feeder.kafka;

import dev.stoker.connectors.kafka.KafkaTarget;
import dev.stoker.connectors.kafka.TopicCheck;
import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.connectors.kafka.TopicReader;
import dev.stoker.schemas.kafka.EpochCounts;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.kafka.RecordPosition;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Where lanes begin in a topic. A feed without state of its own goes on with the epoch that a partition ends in, from that
 * epoch's beginning: consumers drop what they have had. Waits for brokers.
 */
final class TopicStart {
    /** Refuses what another feed has written. */
    interface Check {
        /** @param last the last record of a lane */
        void require(int lane, RecordHeader last) throws IOException;
    }

    private TopicStart() {}

    /** The check of a feed of one version. */
    static Check pinned(KafkaTarget target, String fingerprint) {
        return (lane, last) -> {
            if (!last.fingerprint().text().equals(fingerprint)) {
                throw new TopicException(target + ", partition " + lane + ", holds another feed: its fingerprint is "
                        + last.fingerprint() + ", this feed's is " + fingerprint
                        + ": give another --topic, or delete this one");
            }
        };
    }

    /** The lanes of a feed that has no state. */
    static KafkaLaneState fresh(KafkaPlan plan, Check own) throws IOException {
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

    private static KafkaLane after(KafkaPlan plan, int lane, Optional<RecordHeader> last, Check own)
            throws IOException {
        if (last.isEmpty()) {
            return KafkaLane.fresh(lane);
        }
        RecordHeader header = last.get();
        KafkaTarget target = plan.target();
        if (header.values() != plan.values().format()) {
            throw new TopicException(target + " holds records of --value-format "
                    + header.values().text() + ", this feed writes "
                    + plan.values().format().text()
                    + ": give the same one, or another --topic");
        }
        own.require(lane, header);
        return again(header, lane, plan.follows());
    }

    /** From the beginning of the epoch that a partition ends in: what an epoch has written counts from there. */
    static KafkaLane again(RecordHeader last, int lane, boolean isFollowed) {
        boolean isOver = last.kind() == RecordKind.EPOCH_END;
        return new KafkaLane(
                lane,
                RecordPosition.begin(isOver ? last.epoch() + 1 : last.epoch()),
                EpochCounts.NONE,
                isOver || !isFollowed ? 0 : last.version());
    }

    /** Refuses a topic that is not the one that the state was written for. */
    static void require(KafkaTarget target, String topicId) throws IOException {
        try (TopicCheck topic = new TopicCheck(target)) {
            topic.require(topicId);
        }
    }
}
