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
    private TopicStart() {}

    /** The lanes of a feed that has no state. */
    static KafkaLaneState fresh(KafkaPlan plan, String fingerprint) throws IOException {
        KafkaTarget target = plan.target();
        List<KafkaLane> found = new ArrayList<>();
        try (TopicCheck topic = new TopicCheck(target);
                TopicReader reader = new TopicReader(target)) {
            String id = topic.id();
            for (int lane = 0; lane < plan.lanes(); lane++) {
                found.add(after(plan, lane, reader.last(lane), fingerprint));
            }
            return new KafkaLaneState(id, found);
        }
    }

    private static KafkaLane after(KafkaPlan plan, int lane, Optional<RecordHeader> last, String fingerprint)
            throws TopicException {
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
        if (!header.fingerprint().text().equals(fingerprint)) {
            throw new TopicException(target + ", partition " + lane + ", holds another feed: its fingerprint is "
                    + header.fingerprint() + ", this feed's is " + fingerprint
                    + ": give another --topic, or delete this one");
        }
        long epoch = header.kind() == RecordKind.EPOCH_END ? header.epoch() + 1 : header.epoch();
        return new KafkaLane(lane, RecordPosition.begin(epoch), EpochCounts.NONE);
    }

    /** Refuses a topic that is not the one that the state was written for. */
    static void require(KafkaTarget target, String topicId) throws IOException {
        try (TopicCheck topic = new TopicCheck(target)) {
            topic.require(topicId);
        }
    }
}
