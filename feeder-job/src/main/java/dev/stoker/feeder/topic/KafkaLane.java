package dev.stoker.feeder.topic;

import dev.stoker.schemas.kafka.EpochCounts;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.kafka.RecordPosition;
import java.util.Objects;
import org.apache.flink.api.connector.source.SourceSplit;

/**
 * One lane of a feed to a topic, which is one partition. Immutable.
 *
 * @param lane the lane
 * @param next the record that is written next
 * @param counts what its epoch has written before
 * @param version that its epoch was begun with, of a feed that follows its dataset; 0 before it is begun, and of others
 */
public record KafkaLane(int lane, RecordPosition next, EpochCounts counts, long version) implements SourceSplit {
    public KafkaLane {
        Objects.requireNonNull(next, "next");
        Objects.requireNonNull(counts, "counts");
        if (lane < 0 || version < 0) {
            throw new IllegalArgumentException("lane and version must not be negative: " + lane + ", " + version);
        }
    }

    /** A lane that nothing was written of. */
    public static KafkaLane fresh(int lane) {
        return new KafkaLane(lane, RecordPosition.begin(0), EpochCounts.NONE, 0);
    }

    /**
     * After a record.
     *
     * @param following what comes after it
     * @param of the epoch's version, or 0 where all have one
     */
    KafkaLane after(RecordHeader record, RecordPosition following, long of) {
        EpochCounts written = record.kind() == RecordKind.BATCH ? counts.plus(record) : EpochCounts.NONE;
        return new KafkaLane(lane, following, written, record.kind() == RecordKind.EPOCH_END ? 0 : of);
    }

    @Override
    public String splitId() {
        return Integer.toString(lane);
    }
}
