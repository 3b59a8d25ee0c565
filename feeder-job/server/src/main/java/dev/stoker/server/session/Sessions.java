package dev.stoker.server.session;

import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.session.accept.RateLimitedLog;
import dev.stoker.server.session.accept.Wire;
import dev.stoker.server.threads.Threads;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The sessions of a server, each from its first thread to its last word. Thread-safe. */
final class Sessions {
    private static final Logger LOG = LoggerFactory.getLogger(Sessions.class);
    private static final Duration FAREWELL = Duration.ofSeconds(1);

    private final Counters counters;
    /** By number, so that all are told of a change in the order in which they came. */
    private final ConcurrentNavigableMap<Long, Session> running = new ConcurrentSkipListMap<>();

    private final AtomicLong numbers = new AtomicLong();
    private final Threads threads;
    private final Threads.Timer timer;
    /** Guards who leaves, for those who wait for the last. */
    private final Lock lock;

    private final Condition oneLeft;
    private final RateLimitedLog exhausted = new RateLimitedLog(10_000);
    private volatile Instant idleSince;

    Sessions(Counters counters, Instant started, Threads threads) {
        this.counters = counters;
        this.threads = threads;
        this.timer = threads.timer("stoker-timer");
        this.lock = threads.lock();
        this.oneLeft = lock.newCondition();
        this.idleSince = started;
    }

    /**
     * Starts a session, which is given its number.
     *
     * @throws ProtocolException if there is no thread for it
     */
    void begin(LongFunction<Session> session) throws ProtocolException {
        long number = numbers.incrementAndGet();
        Session begun = session.apply(number);
        running.put(number, begun);
        boolean started = false;
        try {
            start(begun, "stoker-read-" + number);
            started = true;
        } finally {
            if (!started) {
                forget(begun);
            }
        }
    }

    /**
     * Starts a session's thread.
     *
     * @throws ProtocolException if the process may not have another one
     */
    Threads.Started start(Runnable task, String name) throws ProtocolException {
        try {
            return threads.start(name, task);
        } catch (OutOfMemoryError e) {
            int sessions = running.size();
            if (exhausted.permits(threads.nanoTime() / 1_000_000)) {
                LOG.warn(
                        "Cannot start a thread for another trainer beside {} sessions: {}; raise the limits of threads"
                                + " (ulimit -u, pids.max of the container), or lower --max-sessions",
                        sessions,
                        e.getMessage());
            }
            throw new ProtocolException(
                    ErrorCode.INTERNAL,
                    "the feeder has no thread left for another trainer beside " + sessions
                            + ": raise its limits of threads (ulimit -u, pids.max of the container)");
        }
    }

    /** The session has ended and its threads are done. */
    void left(Session session) {
        long now = System.nanoTime();
        counters.waitedNanos.add(session.clock().waitedNanos(now));
        counters.subscribedNanos.add(session.clock().subscribedNanos(now));
        forget(session);
    }

    private void forget(Session session) {
        lock.lock();
        try {
            running.remove(session.number());
            if (isIdle() && !session.isLooking()) {
                idleSince = Instant.ofEpochMilli(threads.nowMs());
            }
            oneLeft.signalAll();
        } finally {
            lock.unlock();
        }
    }

    int size() {
        return running.size();
    }

    void forEach(Consumer<Session> action) {
        running.values().forEach(action);
    }

    /** Since when no trainer is connected; empty while one is. */
    Optional<Instant> idleSince() {
        return isIdle() ? Optional.of(idleSince) : Optional.empty();
    }

    /** Who only looks is no trainer. */
    private boolean isIdle() {
        return running.values().stream().allMatch(Session::isLooking);
    }

    /** The share of their time in which trainers have waited for data, of all sessions ever. */
    double waitedShare() {
        long now = System.nanoTime();
        long waited = counters.waitedNanos.sum();
        long subscribed = counters.subscribedNanos.sum();
        for (Session session : running.values()) {
            waited += session.clock().waitedNanos(now);
            subscribed += session.clock().subscribedNanos(now);
        }
        return subscribed == 0 ? 0 : (double) waited / subscribed;
    }

    /** Closes the channel in a second, by when the peer has read its farewell; a thread blocked on it is released. */
    void closeLater(Wire channel) {
        timer.after(FAREWELL, () -> close(channel));
    }

    private static void close(Wire channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("A connection did not close cleanly", e);
        }
    }

    /** Tells every trainer, and waits until the sessions have ended, but not for ever. */
    void end(ErrorCode code, String why) {
        running.values().forEach(session -> session.end(code, why));
        await();
        stopTimer();
    }

    /** For a server that never let anybody in. */
    void stopTimer() {
        timer.close();
    }

    private void await() {
        long leftNanos = 2 * FAREWELL.toNanos();
        lock.lock();
        try {
            while (!running.isEmpty() && leftNanos > 0) {
                leftNanos = oneLeft.awaitNanos(leftNanos);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }
}
