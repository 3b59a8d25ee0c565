package dev.stoker.schemas.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.protocol.parts.Fields;
import dev.stoker.schemas.protocol.parts.UnixAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Lists the feeders of each lane, most preferred first (server to client, also within WELCOME). The map is only advice:
 * every feeder serves every lane.
 *
 * @param startMs wall clock time at which the map's author started; with {@code counter} it forms the generation, and
 *     the greater generation is newer
 * @param counter number of maps that this author has published
 * @param addresses {@code host:port} of the feeders
 * @param lanes for each lane the indexes into {@code addresses}, by preference
 * @param unix by address, the Unix-domain socket of the same feeder, if it has one
 */
public record LaneMap(
        long startMs, long counter, List<String> addresses, List<List<Integer>> lanes, Map<String, UnixAddress> unix)
        implements Frame, Comparable<LaneMap> {
    public LaneMap {
        Fields.natural("start", startMs);
        Fields.natural("counter", counter);
        addresses = List.copyOf(addresses);
        lanes = lanes.stream().map(List::copyOf).toList();
        unix = Collections.unmodifiableMap(new LinkedHashMap<>(unix));
        for (List<Integer> lane : lanes) {
            for (int address : lane) {
                if (address < 0 || address >= addresses.size()) {
                    throw new IllegalArgumentException(
                            "lane map: index " + address + " with " + addresses.size() + " addresses");
                }
            }
        }
    }

    /** Creates a map without Unix-domain sockets. */
    public LaneMap(long startMs, long counter, List<String> addresses, List<List<Integer>> lanes) {
        this(startMs, counter, addresses, lanes, Map.of());
    }

    /** Creates a map with every lane at one address. It is older than every published map. */
    public static LaneMap single(String address, int lanes, Map<String, UnixAddress> unix) {
        return new LaneMap(0, 0, List.of(address), Collections.nCopies(lanes, List.of(0)), unix);
    }

    /** Compares maps by generation. */
    @Override
    public int compareTo(LaneMap other) {
        int byStart = Long.compare(startMs, other.startMs);
        return byStart != 0 ? byStart : Long.compare(counter, other.counter);
    }

    /**
     * Returns whether its author prefers this feeder for a lane. Returns false if no author has published a map yet.
     */
    public boolean gives(int lane, String address) {
        return startMs > 0
                && lane < lanes.size()
                && !lanes.get(lane).isEmpty()
                && addresses.get(lanes.get(lane).get(0)).equals(address);
    }

    /** Returns the map for a group whose order spec has {@code count} lanes. */
    public LaneMap forLanes(int count) {
        if (count == lanes.size() || lanes.isEmpty()) {
            return this;
        }
        List<List<Integer>> mapped = new ArrayList<>(count);
        for (int lane = 0; lane < count; lane++) {
            mapped.add(lanes.get(lane % lanes.size()));
        }
        return new LaneMap(startMs, counter, addresses, mapped, unix);
    }

    public ByteBuffer body() {
        return JsonObject.bytes(json());
    }

    public static LaneMap read(ByteBuffer body) throws ProtocolException {
        return of(JsonObject.read(FrameType.LANE_MAP, body));
    }

    /** Returns the map as WELCOME contains it. */
    ObjectNode json() {
        ObjectNode json = JsonObject.create();
        json.putArray("generation").add(startMs).add(counter);
        addresses.forEach(json.putArray("addresses")::add);
        ArrayNode lists = json.putArray("lanes");
        lanes.forEach(lane -> lane.forEach(lists.addArray()::add));
        if (!unix.isEmpty()) {
            ObjectNode places = json.putObject("unix");
            unix.forEach((address, place) ->
                    places.putObject(address).put("host", place.host()).put("path", place.path()));
        }
        return json;
    }

    static LaneMap of(JsonObject json) throws ProtocolException {
        JsonNode generation = json.array("generation");
        if (generation.size() != 2) {
            throw json.wrong("generation", generation, "a start time and a counter");
        }
        List<String> addresses = new ArrayList<>();
        for (JsonNode address : json.array("addresses")) {
            addresses.add(json.text("addresses", address));
        }
        List<List<Integer>> lanes = new ArrayList<>();
        for (JsonNode lane : json.array("lanes")) {
            List<Integer> indexes = new ArrayList<>();
            for (JsonNode index : json.array("lanes", lane)) {
                indexes.add((int) json.number("lanes", index, Integer.MAX_VALUE));
            }
            lanes.add(indexes);
        }
        return new LaneMap(
                json.number("generation", generation.get(0), Long.MAX_VALUE),
                json.number("generation", generation.get(1), Long.MAX_VALUE),
                addresses,
                lanes,
                unix(json));
    }

    private static Map<String, UnixAddress> unix(JsonObject json) throws ProtocolException {
        Map<String, UnixAddress> unix = new LinkedHashMap<>();
        if (json.get("unix") != null) {
            JsonObject places = json.object("unix");
            for (Map.Entry<String, JsonNode> entry : places.node().properties()) {
                JsonObject place = places.object(entry.getKey());
                unix.put(entry.getKey(), new UnixAddress(place.text("host"), place.text("path")));
            }
        }
        return unix;
    }

    @Override
    public FrameType type() {
        return FrameType.LANE_MAP;
    }
}
