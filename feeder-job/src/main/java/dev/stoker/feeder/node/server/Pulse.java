package dev.stoker.feeder.node.server;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Whether a peer lives, for the one case that the socket does not show: bytes are on their way to a machine that has vanished.
 * A peer that is merely busy, as one that holds Python's interpreter lock, is silent for less than the limit. Thread-safe.
 */
final class Pulse {
    /** Much longer than a step of a training holds Python's interpreter lock; a closed socket shows at once. */
    static final Duration LIMIT = Duration.ofSeconds(60);

    private static final long NOT_ASKED = Long.MIN_VALUE;

    private final LongSupplier nanos;
    private final AtomicLong askedNanos = new AtomicLong(NOT_ASKED);

    /** @param nanos a clock that only goes forward */
    Pulse(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /** The peer has said something. */
    void heard() {
        askedNanos.set(NOT_ASKED);
    }

    /** Notes that somebody wants to know; true if the peer is to be asked now, false if it has been and owes the answer. */
    boolean ask() {
        return askedNanos.compareAndSet(NOT_ASKED, nanos.getAsLong());
    }

    /** Whether the peer owes an answer for longer than the limit. */
    boolean isSilent() {
        long asked = askedNanos.get();
        return asked != NOT_ASKED && nanos.getAsLong() - asked > LIMIT.toNanos();
    }
}
