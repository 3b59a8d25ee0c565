package dev.stoker.feeder.source.split;

import java.util.List;
import java.util.Objects;
import org.apache.flink.api.connector.source.SourceSplit;

/**
 * One lane of one stream: the unit of placement and failover. Immutable.
 *
 * <p>A trainer, not Flink, decides what is sent next, so the state of a lane holds no read position. It carries only
 * the {@linkplain ConsumerProgress progress} that its reader has seen, so that the end of the job survives a restore.
 *
 * @param stream name of the stream
 * @param lane lane number within the stream, from 0
 * @param progress of consumers, as seen by the reader that owns this lane
 */
public record LaneSplit(String stream, int lane, List<ConsumerProgress> progress) implements SourceSplit {

    public LaneSplit {
        Objects.requireNonNull(stream, "stream");
        if (lane < 0) {
            throw new IllegalArgumentException("lane must not be negative: " + lane);
        }
        progress = List.copyOf(progress);
    }

    public static LaneSplit of(String stream, int lane) {
        return new LaneSplit(stream, lane, List.of());
    }

    public LaneSplit withProgress(List<ConsumerProgress> seen) {
        return new LaneSplit(stream, lane, seen);
    }

    @Override
    public String splitId() {
        return stream + "/" + lane;
    }
}
