package dev.stoker.server.session;

/**
 * Measures how long one trainer has waited for data: the time in which it has consumed everything that was sent, and
 * has asked for more. Measured from its first subscription. Thread-safe.
 */
final class StallClock {
    private long startedNanos;
    private boolean started;
    private long sinceNanos;
    private long waitedNanos;
    private boolean waiting;
    private boolean demand;
    private long unacknowledged;

    /** Notes whether the session asks for data from now on. */
    synchronized void demand(long nowNanos, boolean wanted) {
        if (!started) {
            started = true;
            startedNanos = nowNanos;
        }
        demand = wanted;
        update(nowNanos);
    }

    /** Notes that a piece was sent. */
    synchronized void sent(long nowNanos) {
        unacknowledged++;
        update(nowNanos);
    }

    /** Notes that the trainer has consumed this number of pieces. */
    synchronized void acknowledged(long nowNanos, int pieces) {
        unacknowledged = Math.max(0, unacknowledged - pieces);
        update(nowNanos);
    }

    private void update(long nowNanos) {
        if (waiting) {
            waitedNanos += nowNanos - sinceNanos;
        }
        waiting = started && demand && unacknowledged == 0;
        sinceNanos = nowNanos;
    }

    synchronized long waitedNanos(long nowNanos) {
        return waitedNanos + (waiting ? nowNanos - sinceNanos : 0);
    }

    synchronized long subscribedNanos(long nowNanos) {
        return started ? nowNanos - startedNanos : 0;
    }
}
