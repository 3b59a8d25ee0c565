package dev.stoker.feeder.source.event;

import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.parts.UnixAddress;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.connector.source.SourceEvent;

/**
 * Enumerator to readers: the lane map of one stream.
 *
 * @param stream name of the stream
 * @param startMs first half of the generation
 * @param counter second half of the generation
 * @param addresses servers
 * @param lanes indexes into {@code addresses} by preference, per lane
 * @param unix for each Unix-domain socket three texts: the server's address, the machine, the path
 */
public record LaneMapEvent(
        String stream, long startMs, long counter, String[] addresses, int[][] lanes, String[][] unix)
        implements SourceEvent {

    public static LaneMapEvent of(String stream, LaneMap map) {
        int[][] lanes = map.lanes().stream()
                .map(lane -> lane.stream().mapToInt(Integer::intValue).toArray())
                .toArray(int[][]::new);
        String[][] unix = map.unix().entrySet().stream()
                .map(e -> new String[] {
                    e.getKey(), e.getValue().host(), e.getValue().path()
                })
                .toArray(String[][]::new);
        return new LaneMapEvent(
                stream, map.startMs(), map.counter(), map.addresses().toArray(new String[0]), lanes, unix);
    }

    public LaneMap laneMap() {
        Map<String, UnixAddress> places = new LinkedHashMap<>();
        for (String[] place : unix) {
            places.put(place[0], new UnixAddress(place[1], place[2]));
        }
        return new LaneMap(
                startMs,
                counter,
                List.of(addresses),
                Arrays.stream(lanes)
                        .map(lane -> Arrays.stream(lane).boxed().toList())
                        .toList(),
                places);
    }
}
