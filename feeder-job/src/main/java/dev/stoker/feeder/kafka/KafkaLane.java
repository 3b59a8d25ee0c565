package dev.stoker.feeder.kafka;

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
 */
public record KafkaLane(int lane, RecordPosition next, EpochCounts counts) implements SourceSplit {
    public KafkaLane {
        Objects.requireNonNull(next, "next");
        Objects.requireNonNull(counts, "counts");
        if (lane < 0) {
            throw new IllegalArgumentException("lane must not be negative: " + lane);
        }
    }

    /** A lane that nothing was written of. */
    public static KafkaLane fresh(int lane) {
        return new KafkaLane(lane, RecordPosition.begin(0), EpochCounts.NONE);
    }

    /** After the record, which is not the last of its piece or after which {@code following} comes. */
    KafkaLane after(RecordHeader record, RecordPosition following) {
        EpochCounts written = record.kind() == RecordKind.BATCH ? counts.plus(record) : EpochCounts.NONE;
        return new KafkaLane(lane, following, written);
    }

    @Override
    public String splitId() {
        return Integer.toString(lane);
    }
}
