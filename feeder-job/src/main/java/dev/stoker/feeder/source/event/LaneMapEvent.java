package dev.stoker.feeder.source.event;

import dev.stoker.feeder.node.LaneMap;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.connector.source.SourceEvent;

/**
 * Enumerator to readers: the lane map of one stream.
 *
 * @param stream name of the stream
 * @param startMs first half of the generation
 * @param counter second half of the generation
 * @param addresses servers
 * @param lanes indexes into {@code addresses} by preference, per lane
 */
public record LaneMapEvent(String stream, long startMs, long counter, String[] addresses, int[][] lanes)
        implements SourceEvent {

    public static LaneMapEvent of(String stream, LaneMap map) {
        int[][] lanes = map.lanes().stream()
                .map(lane -> lane.stream().mapToInt(Integer::intValue).toArray())
                .toArray(int[][]::new);
        return new LaneMapEvent(
                stream, map.startMs(), map.counter(), map.addresses().toArray(new String[0]), lanes);
    }

    public LaneMap laneMap() {
        return new LaneMap(
                startMs,
                counter,
                List.of(addresses),
                Arrays.stream(lanes)
                        .map(lane -> Arrays.stream(lane).boxed().toList())
                        .toList());
    }
}
