package dev.stoker.connectors.failure;

import dev.stoker.storage.NoSpaceException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats a call that fails because something is away, so that the task keeps its state and its work meanwhile. Only a call that has
 * worked before is repeated: one that never has may be wrong, and the {@linkplain RestartLimit restart limit} decides. What is final
 * is thrown at once.
 *
 * <p>Thread-safe. An interrupt ends the wait.
 */
public final class Patience {

    private static final Logger LOG = LoggerFactory.getLogger(Patience.class);

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);
    private static final Duration BATCH_LIMIT = Duration.ofHours(1);
    /** Between two log lines of one wait. */
    private static final long TELL_NANOS = TimeUnit.MINUTES.toNanos(5);

    /** What has run for so long has not failed for the reason that it was repeated for: stores give up sooner. */
    private static final long LONG_NANOS = TimeUnit.MINUTES.toNanos(10);

    private static final Map<Object, String> WAITS = new ConcurrentHashMap<>();

    /** A call that may be repeated. */
    public interface Call<T> {
        T run() throws IOException, InterruptedException;
    }

    /** A call without a result. */
    public interface Action {
        void run() throws IOException, InterruptedException;
    }

    /** Spends time; tests need not. */
    interface Clock {
        long nanos();

        void pause(Duration time) throws InterruptedException;

        Clock SYSTEM = new Clock() {
            @Override
            public long nanos() {
                return System.nanoTime();
            }

            @Override
            public void pause(Duration time) throws InterruptedException {
                TimeUnit.MILLISECONDS.sleep(time.toMillis());
            }
        };
    }

    private final Optional<Duration> limit;
    private final Clock clock;
    private volatile boolean hasWorked;

    Patience(Optional<Duration> limit, Clock clock, boolean hasWorked) {
        this.limit = limit;
        this.clock = clock;
        this.hasWorked = hasWorked;
    }

    /** Waits for as long as it takes, once a call has worked. */
    public static Patience endless() {
        return new Patience(Optional.empty(), Clock.SYSTEM, false);
    }

    /** As {@link #endless}, of a task that goes on from a state: its calls have worked before. */
    public static Patience endlessAfterRestore() {
        return new Patience(Optional.empty(), Clock.SYSTEM, true);
    }

    /** Of a batch ingest: for an hour, once a call has worked, so that what it has packed is not lost. Somebody waits for its end. */
    public static Patience ofBatch() {
        return new Patience(Optional.of(BATCH_LIMIT), Clock.SYSTEM, false);
    }

    /** As {@link #ofBatch}, of a part that comes after much work. */
    public static Patience ofBatchAtWork() {
        return new Patience(Optional.of(BATCH_LIMIT), Clock.SYSTEM, true);
    }

    /** What this process waits for, if it does: the failure of one of its calls. */
    public static Optional<String> waiting() {
        return WAITS.values().stream().findFirst();
    }

    /**
     * Runs a call until it succeeds, or fails for a reason that does not pass.
     *
     * @param what is done, for the log: {@code writing a chunk of …}
     */
    public <T> T call(String what, Call<T> call) throws IOException, InterruptedException {
        Object id = null;
        long began = 0;
        long told = 0;
        Duration pause = FIRST_PAUSE;
        try {
            for (int attempt = 1; ; attempt++) {
                long attempted = clock.nanos();
                try {
                    T result = call.run();
                    hasWorked = true;
                    if (attempt > 1) {
                        LOG.info("{} works again after {} s", what, seconds(began));
                    }
                    return result;
                } catch (IOException | RuntimeException e) {
                    long now = clock.nanos();
                    if (now - attempted > LONG_NANOS) {
                        // It had worked again, until now.
                        pause = FIRST_PAUSE;
                        began = now;
                    }
                    began = attempt == 1 ? now : began;
                    if (!isRepeated(e, Duration.ofNanos(now - began).plus(pause))) {
                        throw e;
                    }
                    if (attempt == 1 || now - told >= TELL_NANOS) {
                        told = now;
                        LOG.warn("{} fails, trying again until it works: {}", what, e.toString());
                    }
                    id = id == null ? new Object() : id;
                    WAITS.put(id, e.getMessage() == null ? e.toString() : e.getMessage());
                }
                clock.pause(pause);
                Duration next = pause.multipliedBy(2);
                pause = next.compareTo(LONGEST_PAUSE) < 0 ? next : LONGEST_PAUSE;
            }
        } finally {
            if (id != null) {
                WAITS.remove(id);
            }
        }
    }

    /** As {@link #call}, without a result. */
    public void run(String what, Action action) throws IOException, InterruptedException {
        call(what, () -> {
            action.run();
            return true;
        });
    }

    private boolean isRepeated(Exception failure, Duration waited) {
        boolean isInterrupt = Thread.currentThread().isInterrupted()
                || failure instanceof InterruptedIOException && !(failure instanceof SocketTimeoutException)
                || failure instanceof ClosedByInterruptException;
        if (!hasWorked || isInterrupt || limit.isPresent() && waited.compareTo(limit.get()) > 0) {
            return false;
        }
        // A batch has somebody who can make room, and does not see what it waits for.
        boolean isOwn = limit.isPresent() && failure instanceof NoSpaceException;
        return FailureKind.of(failure) == FailureKind.PASSING && !isOwn;
    }

    private long seconds(long began) {
        return TimeUnit.NANOSECONDS.toSeconds(clock.nanos() - began);
    }
}
