package dev.stoker.feeder.node.server;

import dev.stoker.schemas.protocol.ErrorCode;
import dev.stoker.schemas.protocol.ProtocolException;
import java.io.IOException;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The sessions of a server, each from its first thread to its last word. Thread-safe. */
final class Sessions {
    private static final Logger LOG = LoggerFactory.getLogger(Sessions.class);
    private static final long FAREWELL_MS = 1_000;

    private final Counters counters;
    private final Set<Session> running = ConcurrentHashMap.newKeySet();
    private final AtomicLong numbers = new AtomicLong();
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, task -> {
        Thread thread = new Thread(task, "stoker-timer");
        thread.setDaemon(true);
        return thread;
    });
    private final ThreadFactory threads;
    private final Seldom exhausted = new Seldom(10_000);
    private volatile Instant idleSince;

    /** @param threads makes the sessions' threads */
    Sessions(Counters counters, Instant started, ThreadFactory threads) {
        this.counters = counters;
        this.threads = threads;
        this.idleSince = started;
        // Now, since the first session to end may do so because the process may have no more threads.
        timer.prestartCoreThread();
    }

    /**
     * Starts a session, which is given its number.
     *
     * @throws ProtocolException if there is no thread for it
     */
    void begin(LongFunction<Session> session) throws ProtocolException {
        long number = numbers.incrementAndGet();
        Session begun = session.apply(number);
        running.add(begun);
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
    Thread start(Runnable task, String name) throws ProtocolException {
        try {
            Thread thread = threads.newThread(task);
            thread.setName(name);
            thread.setDaemon(true);
            thread.start();
            return thread;
        } catch (OutOfMemoryError e) {
            int sessions = running.size();
            if (exhausted.permits(System.nanoTime() / 1_000_000)) {
                LOG.warn(
                        "No thread can be started for a trainer beside {} sessions: {}; raise the limits of threads (ulimit -u,"
                                + " pids.max of the container), or lower --max-sessions",
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
        synchronized (running) {
            running.remove(session);
            if (running.isEmpty()) {
                idleSince = Instant.now();
            }
            running.notifyAll();
        }
    }

    int size() {
        return running.size();
    }

    void forEach(Consumer<Session> action) {
        running.forEach(action);
    }

    /** Since when no trainer is connected; empty while one is. */
    Optional<Instant> idleSince() {
        return running.isEmpty() ? Optional.of(idleSince) : Optional.empty();
    }

    /** The share of their time in which trainers have waited for data, of all sessions ever. */
    double waitedShare() {
        long now = System.nanoTime();
        long waited = counters.waitedNanos.sum();
        long subscribed = counters.subscribedNanos.sum();
        for (Session session : running) {
            waited += session.clock().waitedNanos(now);
            subscribed += session.clock().subscribedNanos(now);
        }
        return subscribed == 0 ? 0 : (double) waited / subscribed;
    }

    /** Closes the channel in a second, by when the peer has read its farewell; a thread blocked on it is released. */
    void closeLater(Wire channel) {
        if (timer.isShutdown()) {
            close(channel);
            return;
        }
        timer.schedule(() -> close(channel), FAREWELL_MS, TimeUnit.MILLISECONDS);
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
        running.forEach(session -> session.end(code, why));
        await();
        stopTimer();
    }

    /** For a server that never let anybody in. */
    void stopTimer() {
        timer.shutdownNow();
    }

    private void await() {
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(2 * FAREWELL_MS);
        synchronized (running) {
            long leftMs = 1;
            while (!running.isEmpty() && leftMs > 0) {
                leftMs = TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime());
                try {
                    running.wait(Math.max(1, leftMs));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }
    }
}
