package dev.stoker.feeder.simulation;

import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.LaneMap;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The connections of a trainer. Chooses a feeder for each lane of the lane map, connects to it, detects its silence,
 * and chooses another feeder if it fails.
 */
final class TrainerFeeders {
    private static final long CONNECT_NANOS = 500 * Simulation.MILLI;
    private static final long SILENCE_NANOS = 2 * Simulation.SECOND;

    private final Trainer trainer;
    private final TrainingGroup group;
    private final Simulation simulation;

    private final Map<String, TrainerLink> links = new TreeMap<>();
    /** Feeders that did not answer, and when they may be tried again. */
    private final Map<String, Long> down = new TreeMap<>();
    /** Feeders that this trainer left before they answered. They may still admit a connection that waits there. */
    private final Set<String> leftEarly = new HashSet<>();

    private LaneMap laneMap;

    TrainerFeeders(Trainer trainer, TrainingGroup group) {
        this.trainer = trainer;
        this.group = group;
        this.simulation = trainer.simulation();
    }

    /** Opens, checks and closes connections, so that each lane has a feeder. */
    void arrange() {
        if (trainer.hasLeft()) {
            return;
        }
        links().forEach(this::watch);
        if (laneMap == null) {
            if (links.isEmpty()) {
                group.addresses().stream()
                        .filter(this::isUp)
                        .skip(simulation.between(
                                0, Math.max(0, group.addresses().size() - 1)))
                        .findFirst()
                        .ifPresent(this::connect);
            }
            return;
        }
        Map<String, Set<Integer>> wanted = new TreeMap<>();
        for (int lane = 0; lane < laneMap.lanes().size(); lane++) {
            wanted.computeIfAbsent(addressOf(lane), a -> new TreeSet<>()).add(lane);
        }
        for (String address : wanted.keySet()) {
            if (!links.containsKey(address) && isUp(address)) {
                connect(address);
            }
        }
        for (TrainerLink link : links()) {
            Set<Integer> lanes = wanted.getOrDefault(link.address, Set.of());
            if (!link.isLive) {
                continue;
            }
            if (lanes.isEmpty()) {
                trainer.trace(link.address + " is not needed");
                link.flush();
                drop(link, true);
            } else {
                trainer.settle(link, lanes);
            }
        }
    }

    private boolean isUp(String address) {
        return down.getOrDefault(address, 0L) <= simulation.nowNanos();
    }

    private String addressOf(int lane) {
        List<String> preferred = new ArrayList<>();
        laneMap.lanes()
                .get(lane)
                .forEach(index -> preferred.add(laneMap.addresses().get(index)));
        for (String address : preferred) {
            if (isUp(address)) {
                return address;
            }
        }
        for (String address : group.addresses()) {
            if (isUp(address)) {
                return address;
            }
        }
        return preferred.isEmpty() ? group.addresses().iterator().next() : preferred.get(0);
    }

    private void connect(String address) {
        TrainerLink link = new TrainerLink(trainer, address);
        links.put(address, link);
        link.open(group.network(), trainer.process);
        simulation.after(CONNECT_NANOS, trainer.process, "connect time-out", () -> {
            if (!link.isLive && !link.isClosed) {
                leftEarly.add(address);
                trainer.lost(link, "no answer");
            }
        });
    }

    private void watch(TrainerLink link) {
        long silent = simulation.nowNanos() - link.heardNanos;
        if (!link.isLive || silent < SILENCE_NANOS || trainer.reading.isIdle(link)) {
            return;
        }
        if (link.pinged == link.ponged) {
            link.send(new Ping(++link.pinged));
            link.heardNanos = simulation.nowNanos();
        } else {
            trainer.lost(link, "a PING was not answered");
        }
    }

    /** Handles a connection that has ended, or on which no answer came. */
    void lost(TrainerLink link, String why) {
        trainer.trace("lost " + link + ": " + why);
        down.put(link.address, simulation.nowNanos() + simulation.between(20, 500) * Simulation.MILLI);
        drop(link, false);
        simulation.after(simulation.between(0, 20) * Simulation.MILLI, trainer.process, "arrange", this::arrange);
    }

    private void drop(TrainerLink link, boolean inGoodOrder) {
        trainer.orphaned(link.end(inGoodOrder));
        links.remove(link.address, link);
    }

    /** Closes all connections in good order. */
    void dropAll() {
        links().forEach(link -> drop(link, true));
    }

    /** Notes that the feeder has admitted the trainer. */
    void welcomed(TrainerLink link) {
        link.isLive = true;
        down.remove(link.address);
    }

    /** Uses this lane map if it is newer and complete. */
    void update(LaneMap map) {
        if (laneMap == null
                || (map.compareTo(laneMap) > 0
                        && map.lanes().size() == group.oracle().lanes())) {
            boolean isFirst = laneMap == null;
            laneMap = map;
            down.clear();
            if (!isFirst) {
                arrange();
            }
        }
    }

    /** Returns the number of lanes. */
    int lanes() {
        return laneMap.lanes().size();
    }

    /** Returns a copy of the list of connections, in the order of their addresses. */
    List<TrainerLink> links() {
        return List.copyOf(links.values());
    }

    /** Returns whether the trainer left this feeder before the feeder answered. */
    boolean wasLeftEarly(String address) {
        return leftEarly.contains(address);
    }

    /** Returns the connection to this feeder, if the feeder has answered on it. */
    TrainerLink live(String address) {
        TrainerLink link = links.get(address);
        return link != null && link.isSound() ? link : null;
    }

    boolean areConfirmed() {
        return links.values().stream().allMatch(TrainerLink::isConfirmed);
    }

    String describe() {
        return "links " + links.values() + ", down " + down.keySet();
    }
}
