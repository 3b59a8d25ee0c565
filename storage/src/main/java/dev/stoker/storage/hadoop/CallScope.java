package dev.stoker.storage.hadoop;

import java.time.Duration;

/**
 * The cost of a thread's current call so far, over all its attempts. The requests of an S3 client are counted in the
 * scope of their thread, and refused when its time limit is reached; see {@link S3Requests}.
 */
final class CallScope implements AutoCloseable {

    private static final ThreadLocal<CallScope> CURRENT = new ThreadLocal<>();

    private final CallScope outer = CURRENT.get();
    private final long startNs = System.nanoTime();
    private final long limitNs;
    private int requests;
    private long objectLength = -1;
    private boolean refusing;
    private Exception lastFailure;

    private CallScope(Duration limit) {
        this.limitNs = limit.toNanos();
    }

    static CallScope open(Duration limit) {
        CallScope scope = new CallScope(limit);
        CURRENT.set(scope);
        return scope;
    }

    /** The innermost scope of this thread, or null. */
    static CallScope current() {
        return CURRENT.get();
    }

    Duration elapsed() {
        return Duration.ofNanos(System.nanoTime() - startNs);
    }

    boolean isOver() {
        return System.nanoTime() - startNs > limitNs;
    }

    Duration left() {
        return Duration.ofNanos(Math.max(0, limitNs - (System.nanoTime() - startNs)));
    }

    void countRequest() {
        requests++;
        objectLength = -1;
    }

    /** The number of requests; 0 if the client does not count them. */
    int requests() {
        return requests;
    }

    /** Refuses further requests; their failures mean only that the time limit was reached. */
    void refuseRequests() {
        refusing = true;
    }

    boolean isRefusingRequests() {
        return refusing;
    }

    void failed(Exception failure) {
        lastFailure = failure;
    }

    /** The failure of the last failed request, or null. */
    Exception lastFailure() {
        return lastFailure;
    }

    void objectLength(long length) {
        objectLength = length;
    }

    /** The length of the object that the last reply was a part of, in bytes; -1 if no reply contained it. */
    long objectLength() {
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
