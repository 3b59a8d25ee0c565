package dev.stoker.feeder.source.enumerator;

import dev.stoker.feeder.source.event.ServerEvent;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.UnixAddress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Numbers and assembles the lane maps. The start time of the enumerator is the first half of a map's generation, so that
 * maps of a restarted coordinator are newer than all before. Where the clock was set back, or another machine's is behind, the
 * maps that servers have already decide instead.
 *
 * <p>A map that is sent again unchanged keeps its generation. A client takes a newer map as word that silent feeders
 * are back, so a feeder that hangs would otherwise get its lanes back with every repetition.
 *
 * <p>{@link #next} runs on the coordinator thread, {@link #publish} and {@link #isStopRequested} on a worker thread.
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
         * @param statusUrls where servers show how they stand
         * @param complete whether every lane has its reader
         */
        void publish(Map<String, LaneMap> maps, List<String> statusUrls, boolean complete) throws IOException;

        /** Whether the feed has served before and never said that it ended; before the first call of {@link #publish}. */
        default boolean isGoingOn() throws IOException {
            return false;
        }

        /** Whether somebody has asked the feed to end. */
        boolean isStopRequested() throws IOException;

        /**
         * The coordinator closes.
         *
         * @param ended whether the feed has ended, rather than being about to go on elsewhere
         */
        void withdraw(boolean ended) throws IOException;
    }

    private long startMs;
    private final Hint hint;
    private long counter;
    private Map<String, LaneMap> last = Map.of();

    LaneMaps(long startMs, Hint hint) {
        this.startMs = startMs;
        this.hint = hint;
    }

    /**
     * A server has maps of this time: those that follow must be newer.
     *
     * @return whether another coordinator made them
     */
    boolean follow(long madeMs) {
        boolean isOwn = madeMs == startMs && counter > 0;
        if (madeMs >= startMs && !isOwn) {
            startMs = madeMs + 1;
        }
        return madeMs > 0 && !isOwn;
    }

    /**
     * The lane maps as they were, for those who missed them, if nothing has changed since.
     *
     * <p>Of the same generation, as a newer one tells trainers to return to feeders that they have found silent.
     */
    Map<String, LaneMap> again(
            List<StreamLanes> streams, Map<String, Integer> owner, Map<Integer, ServerEvent> servers) {
        // Assembled with the last generation, so that only a change makes it another one.
        return assemble(streams, owner, servers).equals(last) ? last : next(streams, owner, servers);
    }

    /** Makes the lane map of every stream, one generation on. */
    Map<String, LaneMap> next(
            List<StreamLanes> streams, Map<String, Integer> owner, Map<Integer, ServerEvent> servers) {
        counter++;
        last = assemble(streams, owner, servers);
        return last;
    }

    private Map<String, LaneMap> assemble(
            List<StreamLanes> streams, Map<String, Integer> owner, Map<Integer, ServerEvent> servers) {
        Map<Integer, String> hosts = new TreeMap<>();
        servers.forEach((reader, server) -> hosts.put(reader, server.host()));
        List<String> addresses =
                servers.values().stream().map(ServerEvent::address).distinct().toList();
        Map<String, UnixAddress> unix = new LinkedHashMap<>();
        servers.values().forEach(server -> server.unix().ifPresent(place -> unix.put(server.address(), place)));
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
            maps.put(stream.name(), new LaneMap(startMs, counter, addresses, lanes, unix));
        }
        return maps;
    }

    void publish(Map<String, LaneMap> maps, List<String> statusUrls, boolean complete) throws IOException {
        hint.publish(maps, statusUrls, complete);
    }

    boolean isGoingOn() throws IOException {
        return hint.isGoingOn();
    }

    boolean isStopRequested() throws IOException {
        return hint.isStopRequested();
    }

    void withdraw(boolean ended) throws IOException {
        hint.withdraw(ended);
    }
}
