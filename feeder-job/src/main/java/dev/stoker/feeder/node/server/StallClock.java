package dev.stoker.feeder.node.server;

/**
 * How long one trainer has waited for data: the time in which it has consumed all it was sent, and has asked for more. Counted
 * from its first subscription. Thread-safe.
 */
final class StallClock {
    private long startedNanos;
    private boolean started;
    private long sinceNanos;
    private long waitedNanos;
    private boolean waiting;
    private boolean demand;
    private long unacknowledged;

    /** The session asks for data from now on, or does not. */
    synchronized void demand(long nowNanos, boolean wanted) {
        if (!started) {
            started = true;
            startedNanos = nowNanos;
        }
        demand = wanted;
        update(nowNanos);
    }

    /** A piece is on its way. */
    synchronized void sent(long nowNanos) {
        unacknowledged++;
        update(nowNanos);
    }

    /** The trainer has consumed so many pieces. */
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
