package dev.stoker.feeder.source.enumerator;

import dev.stoker.feeder.node.LaneMap;
import dev.stoker.feeder.source.event.ServerEvent;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Numbers and assembles the lane maps. The start time of the enumerator is the first half of a map's generation, so that
 * maps of a restarted coordinator are newer than all before.
 *
 * <p>{@link #next} runs on the coordinator thread, {@link #publish} on a worker thread.
 */
final class LaneMaps {

    /** Servers named for a lane; more would only make the map of a large job big. */
    private static final int MAX_PREFERENCES = 4;

    /** Where a lane map is published as a hint for those who look for the feed. */
    interface Hint {
        /**
         * Takes the newest maps.
         *
         * @param maps the map of each stream
         * @param complete whether every lane has its reader
         */
        void publish(Map<String, LaneMap> maps, boolean complete) throws IOException;

        /** Says that nobody serves any more. */
        void withdraw() throws IOException;
    }

    private final long startMs;
    private final Hint hint;
    private long counter;

    LaneMaps(long startMs, Hint hint) {
        this.startMs = startMs;
        this.hint = hint;
    }

    /** Makes the lane map of every stream, one generation on. */
    Map<String, LaneMap> next(
            List<StreamLanes> streams, Map<String, Integer> owner, Map<Integer, ServerEvent> servers) {
        counter++;
        Map<Integer, String> hosts = new TreeMap<>();
        servers.forEach((reader, server) -> hosts.put(reader, server.host()));
        List<String> addresses =
                servers.values().stream().map(ServerEvent::address).distinct().toList();
        Map<String, LaneMap> maps = new LinkedHashMap<>();
        for (StreamLanes stream : streams) {
            List<List<Integer>> lanes = new ArrayList<>();
            for (int lane = 0; lane < stream.lanes(); lane++) {
                String id = stream.name() + "/" + lane;
                LinkedHashSet<Integer> preference = new LinkedHashSet<>();
                Integer reader = owner.get(id);
                if (reader != null && servers.containsKey(reader)) {
                    preference.add(addresses.indexOf(servers.get(reader).address()));
                }
                for (int other : LaneAssigner.preference(id, hosts)) {
                    if (preference.size() < MAX_PREFERENCES) {
                        preference.add(addresses.indexOf(servers.get(other).address()));
                    }
                }
                lanes.add(List.copyOf(preference));
            }
            maps.put(stream.name(), new LaneMap(startMs, counter, addresses, lanes));
        }
        return maps;
    }

    void publish(Map<String, LaneMap> maps, boolean complete) throws IOException {
        hint.publish(maps, complete);
    }

    void withdraw() throws IOException {
        hint.withdraw();
    }
}
