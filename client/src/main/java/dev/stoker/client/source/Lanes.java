package dev.stoker.client.source;

import dev.stoker.schemas.protocol.LaneMap;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Assigns lanes to connections. Pure. */
public final class Lanes {
    private Lanes() {}

    /** The addresses that serve a lane, most preferred first. */
    public static List<String> of(LaneMap map, int lane) {
        return map.lanes().get(lane).stream().map(map.addresses()::get).toList();
    }

    /** All addresses that serve a lane. */
    public static Set<String> addresses(LaneMap map) {
        Set<String> addresses = new LinkedHashSet<>();
        for (int lane = 0; lane < map.lanes().size(); lane++) {
            addresses.addAll(of(map, lane));
        }
        return addresses;
    }

    /** The preferred address of each lane: its first address that is not avoided, else its first address, else none. */
    public static List<Optional<String>> choose(LaneMap map, Collection<String> avoided) {
        List<Optional<String>> wanted = new ArrayList<>();
        for (int lane = 0; lane < map.lanes().size(); lane++) {
            List<String> addresses = of(map, lane);
            wanted.add(addresses.stream()
                    .filter(address -> !avoided.contains(address))
                    .findFirst()
                    .or(() -> addresses.stream().findFirst()));
        }
        return wanted;
    }

    /**
     * The live address to use for each lane. This is the preferred address if it is live. Otherwise it is the present
     * one, so that reading continues while a connection is made; then any live one if there is no preferred one or it
     * cannot be reached; otherwise none.
     */
    public static List<Optional<String>> place(
            List<Optional<String>> wanted,
            List<String> live,
            List<Optional<String>> serving,
            Collection<Integer> hopeless) {
        List<Optional<String>> placed = new ArrayList<>();
        for (int lane = 0; lane < wanted.size(); lane++) {
            Optional<String> address = wanted.get(lane);
            if (address.filter(live::contains).isPresent()) {
                placed.add(address);
            } else if (serving.get(lane).filter(live::contains).isPresent()) {
                placed.add(serving.get(lane));
            } else if (!live.isEmpty() && (address.isEmpty() || hopeless.contains(lane))) {
                placed.add(Optional.of(live.get(lane % live.size())));
            } else {
                placed.add(Optional.empty());
            }
        }
        return placed;
    }
}
