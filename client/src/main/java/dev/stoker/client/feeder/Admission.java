package dev.stoker.client.feeder;

import dev.stoker.client.errors.PlaceTakenException;
import dev.stoker.schemas.protocol.LaneMap;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.random.RandomGenerator;

/**
 * Tracks whether a client has its place. Every feeder that answers must have admitted the client before it takes a
 * batch. Guarded by the client's lock.
 */
final class Admission {
    private static final long FIRST_PAUSE_NS = Duration.ofMillis(250).toNanos();
    private static final long LONGEST_PAUSE_NS = Duration.ofSeconds(2).toNanos();

    private final Duration placeTimeout;
    private final Duration patience;
    private final RandomGenerator random;
    private boolean complete;
    private boolean withdrawing;
    /** When the first feeder admitted the client. */
    private OptionalLong sinceNs = OptionalLong.empty();
    /** When the wait for a place began, for a client that never had one or has left it. */
    private OptionalLong refusedSinceNs = OptionalLong.empty();

    private OptionalLong resumeAtNs = OptionalLong.empty();
    private long pauseNs = FIRST_PAUSE_NS;
    /** Feeders that refused a client that had its place already, and the time of each refusal. */
    private final Map<String, Long> late = new HashMap<>();

    /**
     * @param placeTimeout how long to wait for a taken place to become free
     * @param patience how long to wait for the other feeders after the first
     */
    Admission(Duration placeTimeout, Duration patience, RandomGenerator random) {
        this.placeTimeout = placeTimeout;
        this.patience = patience;
        this.random = random;
    }

    /** Whether the client may ask for batches. */
    boolean isComplete() {
        return complete;
    }

    /** Whether the client is closing all connections to start again later. */
    boolean isWithdrawing() {
        return withdrawing;
    }

    /** Whether it is too early to connect again. */
    boolean isPausing(long nowNs) {
        return resumeAtNs.isPresent() && nowNs - resumeAtNs.getAsLong() < 0;
    }

    /** Extra time that the client waits for a first feeder because a feeder answered that the place is taken. */
    long graceNs() {
        return refusedSinceNs.isPresent() ? placeTimeout.toNanos() : 0;
    }

    /** Called before the client reconnects to all feeders. */
    void restart() {
        complete = false;
        withdrawing = false;
        sinceNs = OptionalLong.empty();
    }

    /** Notes that a feeder has admitted this client. */
    void welcomed(String address, long nowNs) {
        late.remove(address);
        if (sinceNs.isEmpty()) {
            sinceNs = OptionalLong.of(nowNs);
        }
    }

    /** Notes that a feeder answered that the place is taken. Returns the error if this has lasted too long. */
    Optional<PlaceTakenException> refused(String address, String text, long nowNs) {
        long since;
        if (complete) {
            since = late.computeIfAbsent(address, a -> nowNs);
        } else {
            since = refusedSinceNs.orElse(nowNs);
            refusedSinceNs = OptionalLong.of(since);
            withdrawing = true;
            resumeAtNs = OptionalLong.of(nowNs + (long) (pauseNs * (0.5 + random.nextDouble())));
            pauseNs = Math.min(LONGEST_PAUSE_NS, pauseNs * 3 / 2);
        }
        return nowNs - since < placeTimeout.toNanos()
                ? Optional.empty()
                : Optional.of(new PlaceTakenException(text + " (waited for " + (nowNs - since) / 1_000_000
                        + " ms, placeTimeout is " + placeTimeout.toMillis() + " ms)"));
    }

    /** Whether every feeder that answers has admitted this client. */
    boolean lookAt(FeederPool pool, long nowNs) {
        Optional<LaneMap> map = pool.lanes().laneMap();
        if (!complete && !withdrawing && sinceNs.isPresent() && map.isPresent()) {
            boolean isLate = nowNs - sinceNs.getAsLong() > patience.toNanos();
            complete = isLate || map.get().addresses().stream().allMatch(pool::hasAnswered);
            if (complete) {
                refusedSinceNs = OptionalLong.empty();
                pauseNs = FIRST_PAUSE_NS;
            }
        }
        return complete;
    }
}
