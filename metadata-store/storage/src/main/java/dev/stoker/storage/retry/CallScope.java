package dev.stoker.storage.retry;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Counts the requests of a thread's current call over all its attempts. The requests of an S3 client are added to the
 * scope of their thread, and rejected after its time limit; see {@link S3Requests}.
 */
public final class CallScope implements AutoCloseable {

    private static final ThreadLocal<CallScope> CURRENT = new ThreadLocal<>();

    private final CallScope outer = CURRENT.get();
    private final long startNs = System.nanoTime();
    private final long limitNs;
    private int requests;
    private long objectLength = -1;
    private boolean refusing;
    private @Nullable Exception lastFailure;

    private CallScope(Duration limit) {
        this.limitNs = limit.toNanos();
    }

    public static CallScope open(Duration limit) {
        CallScope scope = new CallScope(limit);
        CURRENT.set(scope);
        return scope;
    }

    /** Returns the innermost scope of this thread, or null. */
    public static CallScope current() {
        return CURRENT.get();
    }

    public Duration elapsed() {
        return Duration.ofNanos(System.nanoTime() - startNs);
    }

    public boolean isOver() {
        return System.nanoTime() - startNs > limitNs;
    }

    public Duration left() {
        return Duration.ofNanos(Math.max(0, limitNs - (System.nanoTime() - startNs)));
    }

    public void countRequest() {
        requests++;
        objectLength = -1;
    }

    /** Returns the number of requests; 0 if no client counts them. */
    public int requests() {
        return requests;
    }

    /** Refuses all further requests because the time limit is reached. */
    public void refuseRequests() {
        refusing = true;
    }

    public boolean isRefusingRequests() {
        return refusing;
    }

    public void failed(Exception failure) {
        lastFailure = failure;
    }

    /** Returns the failure of the last failed request, or null. */
    @Nullable
    public Exception lastFailure() {
        return lastFailure;
    }

    public void objectLength(long length) {
        objectLength = length;
    }

    /** Returns the length in bytes of the object in the last reply; -1 if no reply stated it. */
    public long objectLength() {
        return objectLength;
    }

    @Override
    public void close() {
        if (outer == null) {
            CURRENT.remove();
        } else {
            CURRENT.set(outer);
        }
    }
}
