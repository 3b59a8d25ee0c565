package dev.stoker.server.session.accept;

/** Limits the rate of a line that repeats in the log. Thread-safe. */
public final class RateLimitedLog {
    private final long pauseMs;
    private boolean said;
    private long saidMs;

    /** @param pauseMs the least time between two lines */
    public RateLimitedLog(long pauseMs) {
        this.pauseMs = pauseMs;
    }

    /** Returns whether the line may be written now. */
    public synchronized boolean permits(long nowMs) {
        if (said && nowMs - saidMs < pauseMs) {
            return false;
        }
        said = true;
        saidMs = nowMs;
        return true;
    }
}
