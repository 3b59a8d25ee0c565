package dev.stoker.feeder.source.enumerator;

import dev.stoker.feeder.node.GroupName;
import dev.stoker.feeder.source.event.ProgressEvent;
import dev.stoker.feeder.source.split.ConsumerProgress;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Decides once a second whether the feed ends: everyone has finished the last epoch, nobody is expected who could not be seen yet,
 * and no receipts are on their way; or no trainer has been connected for long.
 *
 * <p>Owned by the coordinator thread.
 */
final class FeedEnd {
    /** Ticks between the last epoch's end and the feed's: receipts of earlier batches may be on their way at other servers. */
    private static final int GRACE_TICKS = 1;
    /**
     * Ticks in which trainers connect again after a restore, among them those that subscribed after the checkpoint. As many for
     * the trainers of a server that lost its last reader, which serves them for 30 s without writing down what they say.
     */
    private static final int RETURN_TICKS = 40;
    /** How long the feed waits, with no trainer connected, for the first to read a stream. */
    private static final Duration UNREAD = Duration.ofSeconds(60);

    private final JobEnd end;
    private final List<StreamLanes> streams;
    private final Duration idleTimeout;

    private final Map<Integer, String> addresses = new HashMap<>();
    private final Map<Integer, Long> idleSinceMs = new HashMap<>();
    private final Map<Integer, Set<GroupName>> owing = new HashMap<>();
    /** Servers that have lost a reader, and the tick until which their trainers may be on their way to another one. */
    private final Map<String, Integer> left = new HashMap<>();

    private int ticks;
    /** Until when trainers of an earlier coordinator may be on their way. */
    private int returnTicks;
    /** Ticks since everyone had finished. */
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

    /** There was a coordinator before this one, even if it left no checkpoint. */
    void resume() {
        returnTicks = RETURN_TICKS;
    }

    /** This coordinator continues the work of another one, which has left no state. */
    void resumes() {
        returnTicks = RETURN_TICKS;
    }

    void add(Collection<ConsumerProgress> seen) {
        end.add(seen);
    }

    List<ConsumerProgress> progress() {
        return end.progress();
    }

    /** A reader's server is there. */
    void serves(int subtask, String address) {
        addresses.put(subtask, address);
    }

    /** A reader has failed. Its server may live on. */
    void failed(int subtask) {
        String address = addresses.remove(subtask);
        if (address != null) {
            left.put(address, ticks + RETURN_TICKS);
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
     * Lets a second pass.
     *
     * @param readers how many readers the feed has when all are here
     * @return why the feed ends; empty if it does not
     */
    Optional<String> tick(long nowMs, int readers) {
        ticks++;
        long idleMs = idleMs(nowMs, readers);
        graceTicks = end.reached() && mayEnd(idleMs, readers) ? graceTicks + 1 : 0;
        if (graceTicks > GRACE_TICKS) {
            return Optional.of("everyone who has subscribed has acknowledged the last epoch");
        }
        if (!idleTimeout.isZero() && idleMs >= idleTimeout.toMillis()) {
            return Optional.of("no trainer has been connected for " + idleTimeout.toSeconds() + " s (idle-timeout)");
        }
        return Optional.empty();
    }

    /** Whether nobody is expected who could not be seen yet, and nothing more is to be written down. */
    private boolean mayEnd(long idleMs, int readers) {
        // A reader that is away may have receipts to hand over, and its trainers may be on their way to another one.
        left.keySet().removeAll(addresses.values());
        left.values().removeIf(until -> ticks >= until);
        boolean allHere = addresses.size() == readers && left.isEmpty() && ticks > returnTicks;
        boolean allWritten = owing.values().stream().flatMap(Set::stream).noneMatch(end::counts);
        return allHere && allWritten && (!end.waitsFor(streams) || idleMs >= UNREAD.toMillis());
    }

    /** How long no trainer has been connected; -1 while one is, or may be. */
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
