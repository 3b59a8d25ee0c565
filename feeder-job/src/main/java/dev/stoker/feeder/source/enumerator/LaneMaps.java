package dev.stoker.feeder.source.enumerator;

import dev.stoker.feeder.source.event.ServerEvent;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.parts.UnixAddress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Numbers and assembles the lane maps. The start time of the enumerator is the first half of a map's generation, so
 * that the maps of a restarted coordinator are newer than all earlier ones. If the clock was set back, or the clock of
 * another machine is slow, the generation must exceed that of the maps that servers already have.
 *
 * <p>A map that is sent again unchanged keeps its generation. A client takes a newer map as a sign that silent feeders
 * are back, so a feeder that hangs would otherwise get its lanes back with every repetition.
 *
 * <p>{@link #next} runs on the coordinator thread, {@link #claim}, {@link #publish}, {@link #takeStopRequest} and
 * {@link #release} on a worker thread.
 */
final class LaneMaps {

    /** Maximum number of servers named for a lane, which limits the map of a large job. */
    private static final int MAX_PREFERENCES = 4;

    /** A place where lane maps are published, so that clients can find the feed. */
    interface Hint {
        /**
         * Claims the feed's name for this job. Nothing may be published or withdrawn before.
         *
         * @throws dev.stoker.feeder.registry.FeedRunningException if another feed has the name
         */
        default void claim() throws IOException {}

        /**
         * Publishes the newest maps.
         *
         * @param maps the map of each stream
         * @param statusUrls URLs of the status pages
         * @param complete whether every lane has its reader
         */
        void publish(Map<String, LaneMap> maps, List<String> statusUrls, boolean complete) throws IOException;

        /**
         * Returns whether the feed has served before and never reported its end. Valid before the first call of {@link
         * #publish}.
         */
        default boolean isGoingOn() throws IOException {
            return false;
        }

        /** Returns whether a user has asked the feed to end, and deletes the request. */
        boolean takeStopRequest() throws IOException;

        /**
         * Releases what the feed uses when it begins to end. Flink unloads the job's classes while the coordinator
         * closes, so {@link #withdraw} may come too late for it.
         */
        default void release() {}

        /**
         * Withdraws the maps when the coordinator closes.
         *
         * @param ended whether the feed has ended, and does not continue elsewhere
         */
        void withdraw(boolean ended) throws IOException;

        /** Releases the name when the coordinator closes. */
        default void unclaim() throws IOException {}
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
     * Notes that a server has maps of this time. Later maps must be newer.
     *
     * @return whether another coordinator created them
     */
    boolean follow(long madeMs) {
        boolean isOwn = madeMs == startMs && counter > 0;
        if (madeMs >= startMs && !isOwn) {
            startMs = madeMs + 1;
        }
        return madeMs > 0 && !isOwn;
    }

    /**
     * Returns the unchanged lane maps for servers that missed them, if nothing has changed since.
     *
     * <p>They keep their generation, because a newer one tells trainers to return to feeders that were silent.
     */
    Map<String, LaneMap> again(
            List<StreamLanes> streams, Map<String, Integer> owner, Map<Integer, ServerEvent> servers) {
        // Assembled with the last generation, so that only a real change makes a difference.
        return assemble(streams, owner, servers).equals(last) ? last : next(streams, owner, servers);
    }

    /** Creates the lane map of every stream, with the next generation. */
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
                        preference.add(addresses.indexOf(
                                Objects.requireNonNull(servers.get(other), "each reader with a host has a server")
                                        .address()));
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

    void claim() throws IOException {
        hint.claim();
    }

    void unclaim() throws IOException {
        hint.unclaim();
    }

    boolean takeStopRequest() throws IOException {
        return hint.takeStopRequest();
    }

    void release() {
        hint.release();
    }

    void withdraw(boolean ended) throws IOException {
        hint.withdraw(ended);
    }
}
