package dev.stoker.server.session;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Detects a dead peer in the one case that the socket does not show: bytes are in flight to a machine that has
 * vanished. A peer that is only busy, for example because it holds Python's interpreter lock, is silent for less than
 * the limit. Thread-safe.
 */
public final class Pulse {
    /** Much longer than a training step holds Python's interpreter lock. A closed socket is detected at once. */
    public static final Duration LIMIT = Duration.ofSeconds(60);

    private static final long NOT_ASKED = Long.MIN_VALUE;

    private final LongSupplier nanos;
    private final AtomicLong askedNanos = new AtomicLong(NOT_ASKED);

    /** @param nanos a monotonic clock */
    public Pulse(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /** Notes that the peer has sent something. */
    public void heard() {
        askedNanos.set(NOT_ASKED);
    }

    /**
     * Starts a check of the peer. Returns true if the caller must send a PING now, and false if an earlier one has no
     * answer yet.
     */
    public boolean ask() {
        return askedNanos.compareAndSet(NOT_ASKED, nanos.getAsLong());
    }

    /** Returns whether an answer of the peer is overdue. */
    public boolean isSilent() {
        long asked = askedNanos.get();
        return asked != NOT_ASKED && nanos.getAsLong() - asked > LIMIT.toNanos();
    }
}
