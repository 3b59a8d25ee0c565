package dev.stoker.feeder.topic;

import dev.stoker.connectors.kafka.KafkaTarget;
import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.connectors.kafka.topic.TopicReader;
import dev.stoker.schemas.kafka.EpochCounts;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordPosition;
import dev.stoker.schemas.order.LanePieces;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Determines where the lanes of a topic that is written in transactions resume. A lane resumes at the position of its
 * state, unless the brokers aborted records that the state counts as written. Brokers abort transactions if the job was
 * down or stalled for longer than the transaction timeout, or if another feed with the same name started. Waits for
 * brokers.
 */
final class LaneResume {
    private static final Logger LOG = LoggerFactory.getLogger(LaneResume.class);
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long TELL_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final KafkaTarget target;
    private final TopicEpochs epochs;

    LaneResume(KafkaTarget target, TopicEpochs epochs) {
        this.target = target;
        this.epochs = epochs;
    }

    /**
     * Returns the lanes with the positions from which they resume. This job must not write to these lanes during the
     * call.
     */
    List<KafkaLane> of(List<KafkaLane> lanes) throws IOException {
        List<KafkaLane> found = new ArrayList<>();
        try (TopicReader written = TopicReader.ofAll(target);
                TopicReader committed = new TopicReader(target)) {
            // The records that the states count as written are before these ends. Other tasks may still commit some of
            // them.
            Map<Integer, Long> ends = new TreeMap<>();
            for (KafkaLane lane : lanes) {
                ends.put(lane.lane(), written.end(lane.lane()));
            }
            for (KafkaLane lane : lanes) {
                awaitEnd(lane.lane(), Objects.requireNonNull(ends.get(lane.lane())), committed);
                Optional<RecordHeader> last = committed.last(lane.lane());
                KafkaLane next =
                        last.isPresent() ? after(last.get(), lane) : inEmpty(committed.begin(lane.lane()), lane);
                if (!next.equals(lane)) {
                    LOG.warn(
                            "{}, partition {}: the records before {} are missing because their transaction was"
                                    + " aborted; resuming with {}",
                            target,
                            lane.lane(),
                            lane.next(),
                            next.next());
                }
                found.add(next);
            }
        }
        return found;
    }

    /** Waits until each transaction that has records before an offset is committed or aborted. */
    private void awaitEnd(int lane, long end, TopicReader committed) throws IOException {
        long told = System.nanoTime();
        while (committed.end(lane) < end) {
            if (System.nanoTime() - told > TELL_NANOS) {
                told = System.nanoTime();
                LOG.warn(
                        "{}, partition {}: waiting for another producer's open transaction to end or to time out",
                        target,
                        lane);
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    /** Returns where a lane resumes in a partition that ends with this record. */
    KafkaLane after(RecordHeader last, KafkaLane lane) throws IOException {
        TopicEpochs.Version version = epochs.of(last.epoch(), epochs.follows() ? last.version() : 0);
        if (!version.info().fingerprint().equals(last.fingerprint())) {
            throw new TopicException(target + ", partition " + lane.lane() + ", ends with a record of another feed: its"
                    + " fingerprint is " + last.fingerprint() + ", this feed's is "
                    + version.info().fingerprint() + ": feed into a new topic");
        }
        LanePieces pieces = new LanePieces(version.order().epoch(last.epoch()).numbering(), lane.lane());
        return LaneWriter.following(last, pieces).compareTo(lane.next()) >= 0
                ? lane
                : TopicFeedStart.again(last, lane.lane(), epochs.follows());
    }

    /**
     * Returns where a lane resumes in a partition without records.
     *
     * @param begin first offset of the partition; earlier records were deleted
     */
    static KafkaLane inEmpty(long begin, KafkaLane lane) {
        return begin == 0
                ? KafkaLane.fresh(lane.lane())
                : new KafkaLane(
                        lane.lane(), RecordPosition.begin(lane.next().epoch()), EpochCounts.NONE, lane.version());
    }
}
