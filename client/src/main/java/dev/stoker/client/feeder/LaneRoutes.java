package dev.stoker.client.feeder;

import dev.stoker.client.source.Lanes;
import dev.stoker.schemas.protocol.LaneMap;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which lane is read from which feeder: the newest lane map, the feeders that the client avoids for a while, and the
 * address at which each lane is subscribed. Knows addresses, but no connections. Guarded by the client's lock.
 */
final class LaneRoutes {
    /** Addresses to avoid for a while, and when the client left each. */
    private final Map<String, Long> avoided = new LinkedHashMap<>();

    private Optional<LaneMap> laneMap = Optional.empty();
    /** The address at which each lane is subscribed. */
    private List<Optional<String>> serving = List.of();

    Optional<LaneMap> laneMap() {
        return laneMap;
    }

    /** Whether a map is newer than the known one. */
    boolean isOlderThan(LaneMap map) {
        return laneMap.isEmpty() || map.compareTo(laneMap.get()) > 0;
    }

    /** Adopts a lane map. Returns whether it differs from the known one; if so, no feeder is avoided any more. */
    boolean adopt(LaneMap map) {
        if (serving.isEmpty()) {
            serving = Collections.nCopies(map.lanes().size(), Optional.empty());
        }
        boolean isNew = laneMap.isEmpty() || map.compareTo(laneMap.get()) != 0;
        laneMap = Optional.of(map);
        if (isNew) {
            avoided.clear();
        }
        return isNew;
    }

    /** Forgets the lane map. */
    void forgetMap() {
        laneMap = Optional.empty();
    }

    /** Forgets at which addresses the lanes are subscribed. */
    void forgetServing() {
        serving = List.of();
    }

    /**
     * Whether other feeders could serve every lane of an address.
     *
     * @param live addresses with a live connection
     */
    boolean hasAlternatives(String address, List<String> live) {
        if (laneMap.isEmpty()) {
            return false;
        }
        if (live.stream().anyMatch(other -> !other.equals(address))) {
            return true;
        }
        boolean servesAny = false;
        for (int lane = 0; lane < serving.size(); lane++) {
            if (serving.get(lane).filter(address::equals).isPresent()) {
                servesAny = true;
                if (Lanes.of(laneMap.get(), lane).stream()
                        .allMatch(other -> other.equals(address) || avoided.containsKey(other))) {
                    return false;
                }
            }
        }
        return servesAny;
    }

    /** Whether the lane map names the feeder by another address, which is used from now on. */
    boolean isAlias(String address) {
        return laneMap.isPresent() && !laneMap.get().addresses().contains(address);
    }

    /** The addresses at which the client should read, which depend on the addresses that it avoids. */
    Set<String> wanted() {
        Set<String> wanted = new LinkedHashSet<>();
        Lanes.choose(laneMap.orElseThrow(), avoided.keySet()).forEach(address -> address.ifPresent(wanted::add));
        return wanted;
    }

    /** All addresses that serve a lane. */
    Set<String> addresses() {
        return Lanes.addresses(laneMap.orElseThrow());
    }

    // ---- avoided addresses

    Set<String> avoided() {
        return avoided.keySet();
    }

    void avoid(String address, long nowNs) {
        avoided.put(address, nowNs);
    }

    /** Notes that an address has welcomed the client. */
    void welcomed(String address) {
        avoided.remove(address);
    }

    /** Avoids no address any more that the client left longer ago than this. Returns these addresses. */
    List<String> forgive(long forgiveNs, long nowNs) {
        List<String> forgiven = new ArrayList<>();
        for (Map.Entry<String, Long> entry : List.copyOf(avoided.entrySet())) {
            if (nowNs - entry.getValue() > forgiveNs) {
                avoided.remove(entry.getKey());
                forgiven.add(entry.getKey());
            }
        }
        return forgiven;
    }

    /** Whether a lane of an address has another address that is not avoided. */
    boolean hasSpare(String address) {
        LaneMap map = laneMap.orElseThrow();
        for (int lane = 0; lane < map.lanes().size(); lane++) {
            List<String> addresses = Lanes.of(map, lane);
            if (addresses.contains(address)
                    && addresses.stream().anyMatch(a -> !a.equals(address) && !avoided.containsKey(a))) {
                return true;
            }
        }
        return false;
    }

    // ---- lanes

    /**
     * Assigns lanes to feeders again. Returns the lanes of each live address that has any.
     *
     * @param live addresses with a live connection
     */
    Map<String, Set<Integer>> arrange(List<String> live) {
        LaneMap map = laneMap.orElseThrow();
        Set<Integer> hopeless = new HashSet<>();
        for (int lane = 0; lane < map.lanes().size(); lane++) {
            if (avoided.keySet().containsAll(Lanes.of(map, lane))) {
                hopeless.add(lane);
            }
        }
        serving = Lanes.place(Lanes.choose(map, avoided.keySet()), live, serving, hopeless);
        Map<String, Set<Integer>> lanes = new LinkedHashMap<>();
        for (int lane = 0; lane < serving.size(); lane++) {
            int mine = lane;
            serving.get(lane)
                    .ifPresent(address ->
                            lanes.computeIfAbsent(address, a -> new TreeSet<>()).add(mine));
        }
        return lanes;
    }

    /** Whether each lane is subscribed somewhere. */
    boolean isComplete() {
        return serving.stream().noneMatch(Optional::isEmpty);
    }

    /** Whether a lane is subscribed at an address. */
    boolean isServing(String address) {
        return serving.contains(Optional.of(address));
    }

    /** The address at which a lane is read, or should be. */
    String addressOf(int lane) {
        Optional<String> served = lane < serving.size() ? serving.get(lane) : Optional.empty();
        return served.or(() -> laneMap.flatMap(
                        map -> Lanes.choose(map, avoided.keySet()).get(lane)))
                .orElse("");
    }
}
