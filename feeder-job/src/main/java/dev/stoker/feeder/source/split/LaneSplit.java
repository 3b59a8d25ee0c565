package dev.stoker.feeder.source.split;

import java.util.List;
import java.util.Objects;
import org.apache.flink.api.connector.source.SourceSplit;

/**
 * One lane of one stream: the unit of placement and failover. Immutable.
 *
 * <p>A trainer, not Flink, decides what is sent next, so a lane has no read position. Flink stores nothing for a reader
 * except splits. A reader therefore adds a split without a lane to its state. That split has the {@linkplain
 * ConsumerProgress progress} that the reader has seen, so that the end of the job survives a restore. A reader without
 * lanes has one too, because it also writes receipts.
 *
 * @param stream name of the stream; empty if the split has no lane
 * @param lane lane number within the stream, from 0; -1 if the split has no lane
 * @param progress of consumers; empty if the split has a lane
 */
public record LaneSplit(String stream, int lane, List<ConsumerProgress> progress) implements SourceSplit {

    private static final int NO_LANE = -1;

    public LaneSplit {
        Objects.requireNonNull(stream, "stream");
        progress = List.copyOf(progress);
        if (lane < NO_LANE || stream.isEmpty() != (lane == NO_LANE) || (lane != NO_LANE && !progress.isEmpty())) {
            throw new IllegalArgumentException("neither a lane nor progress: stream \"" + stream + "\", lane " + lane
                    + ", progress of " + progress.size() + " consumers");
        }
    }

    public static LaneSplit of(String stream, int lane) {
        return new LaneSplit(stream, lane, List.of());
    }

    public static LaneSplit of(List<ConsumerProgress> progress) {
        return new LaneSplit("", NO_LANE, progress);
    }

    public boolean hasLane() {
        return lane != NO_LANE;
    }

    @Override
    public String splitId() {
        return hasLane() ? stream + "/" + lane : "progress";
    }
}
