package dev.stoker.feeder.node.server;

import dev.stoker.schemas.protocol.ErrorCode;
import java.io.IOException;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
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
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "stoker-timer");
        thread.setDaemon(true);
        return thread;
    });
    private volatile Instant idleSince;

    Sessions(Counters counters, Instant started) {
        this.counters = counters;
        this.idleSince = started;
    }

    /** Starts a session, which is given its number. */
    void begin(LongFunction<Session> session) {
        long number = numbers.incrementAndGet();
        Session begun = session.apply(number);
        running.add(begun);
        Thread thread = new Thread(begun, "stoker-read-" + number);
        thread.setDaemon(true);
        thread.start();
    }

    /** The session has ended and its threads are done. */
    void left(Session session) {
        long now = System.nanoTime();
        counters.waitedNanos.add(session.clock().waitedNanos(now));
        counters.subscribedNanos.add(session.clock().subscribedNanos(now));
        synchronized (running) {
            running.remove(session);
            if (isIdle() && !session.isLooking()) {
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
        return isIdle() ? Optional.of(idleSince) : Optional.empty();
    }

    /** Who only looks is no trainer. */
    private boolean isIdle() {
        return running.stream().allMatch(Session::isLooking);
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
