package dev.stoker.feeder.source.enumerator;

import dev.stoker.feeder.source.event.ProgressEvent;
import dev.stoker.feeder.source.split.ConsumerProgress;
import dev.stoker.server.feed.GroupName;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Decides once a second whether the feed ends. It ends if every trainer has finished the last epoch, no unseen trainer
 * is expected, and no receipts are in flight. It also ends if no trainer has been connected for a long time.
 *
 * <p>Owned by the coordinator thread.
 */
final class FeedEnd {
    /**
     * Ticks between the end of the last epoch and the end of the feed, because receipts of earlier batches may be in
     * flight at other servers.
     */
    private static final int GRACE_TICKS = 1;
    /**
     * Ticks in which trainers reconnect after a restore, including trainers that subscribed after the checkpoint.
     * Trainers of a server that lost its last reader have the same time: that server continues for 30 s without writing
     * receipts.
     */
    private static final int RETURN_TICKS = 40;
    /**
     * Ticks in which ranks subscribe in a run that others of their group have begun. After that, ranks that finished in
     * an older run count as finished.
     */
    private static final int JOIN_TICKS = 60;
    /** How long the feed waits for the first trainer of a stream while no trainer is connected. */
    private static final Duration UNREAD = Duration.ofSeconds(60);

    private final JobEnd end;
    private final List<StreamLanes> streams;
    private final Duration idleTimeout;

    /** A server process; another one may have the address later. */
    private record Server(String address, long startedMs) {}

    /** The server of each reader. */
    private final Map<Integer, Server> servers = new HashMap<>();

    private final Map<Integer, Long> idleSinceMs = new HashMap<>();
    private final Map<Integer, Set<GroupName>> owing = new HashMap<>();
    /**
     * Servers that have lost a reader, with the tick until which their trainers may be reconnecting to another server.
     */
    private final Map<Server, Integer> left = new HashMap<>();

    private int ticks;
    /** The tick until which trainers of an earlier coordinator may be reconnecting. */
    private int returnTicks;
    /** Ticks since all trainers have finished. */
    private int finishedTicks;
    /** Ticks since the feed may end. */
    private int graceTicks;

    /** @param restored whether this coordinator resumes the work of another one */
    FeedEnd(JobEnd end, List<StreamLanes> streams, Duration idleTimeout, boolean restored) {
        this.end = end;
        this.streams = streams;
        this.idleTimeout = idleTimeout;
        if (restored) {
            resume();
        }
    }

    /** Notes that there was an earlier coordinator, even if it left no checkpoint. */
    void resume() {
        returnTicks = RETURN_TICKS;
    }

    void add(Collection<ConsumerProgress> seen) {
        end.add(seen);
    }

    List<ConsumerProgress> progress() {
        return end.progress();
    }

    /**
     * Notes that a reader's server is running.
     *
     * @param startedMs when the server began
     */
    void serves(int subtask, String address, long startedMs) {
        servers.put(subtask, new Server(address, startedMs));
    }

    /** Notes that a reader has failed. Its server may still be running. */
    void failed(int subtask) {
        Server server = servers.remove(subtask);
        if (server != null) {
            left.put(server, ticks + RETURN_TICKS);
        }
        idleSinceMs.remove(subtask);
        owing.remove(subtask);
    }

    void heard(int subtask, ProgressEvent event) {
        end.add(event.progress());
        idleSinceMs.put(subtask, event.idleSinceMs());
        owing.put(subtask, event.owing());
    }

    /**
     * Advances the clock by one second.
     *
     * @param readers number of readers of the complete feed
     * @return why the feed ends; empty if it does not
     */
    Optional<String> tick(long nowMs, int readers) {
        ticks++;
        long idleMs = idleMs(nowMs, readers);
        finishedTicks = end.reached() ? finishedTicks + 1 : 0;
        boolean hasFinished = finishedTicks > (end.isSpread() ? JOIN_TICKS : 0);
        graceTicks = hasFinished && mayEnd(idleMs, readers) ? graceTicks + 1 : 0;
        if (graceTicks > GRACE_TICKS) {
            return Optional.of("all subscribers have acknowledged the last epoch");
        }
        if (!idleTimeout.isZero() && idleMs >= idleTimeout.toMillis()) {
            return Optional.of("no trainer has been connected for " + idleTimeout.toSeconds() + " s (idle-timeout)");
        }
        return Optional.empty();
    }

    /** Returns whether no unseen trainer is expected, and no receipt remains to be written. */
    private boolean mayEnd(long idleMs, int readers) {
        // A missing reader may have receipts to hand over, and its trainers may be reconnecting to another reader.
        left.keySet().removeAll(servers.values());
        left.values().removeIf(until -> ticks >= until);
        boolean allHere = servers.size() == readers && left.isEmpty() && ticks > returnTicks;
        boolean allWritten = owing.values().stream().flatMap(Set::stream).noneMatch(end::counts);
        return allHere && allWritten && (!end.waitsFor(streams) || idleMs >= UNREAD.toMillis());
    }

    /** Returns how long no trainer has been connected; -1 if one is connected, or may be. */
    private long idleMs(long nowMs, int readers) {
        boolean allIdle =
                idleSinceMs.size() == readers && idleSinceMs.values().stream().allMatch(since -> since > 0);
        return allIdle
                ? nowMs
                        - idleSinceMs.values().stream()
                                .mapToLong(Long::longValue)
                                .max()
                                .orElse(nowMs)
                : -1;
    }
}
