package dev.stoker.flink.failure;

import dev.stoker.storage.errors.NoSpaceException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Retries a call that fails because something is unavailable, so that the task keeps its state and its work meanwhile.
 * It retries only calls that have succeeded before: one that never has may be misconfigured, and the {@linkplain
 * RestartLimit restart limit} decides. Final failures are thrown at once. {@link Outages} has the failures of calls
 * that are being retried.
 *
 * <p>Thread-safe. An interrupt ends the wait.
 */
public final class Patience {

    private static final Logger LOG = LoggerFactory.getLogger(Patience.class);

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);
    private static final Duration BATCH_LIMIT = Duration.ofHours(1);
    /** The interval between two log lines of one wait. */
    private static final long TELL_NANOS = TimeUnit.MINUTES.toNanos(5);

    /** A call that has run this long has failed for a new reason: stores time out sooner. */
    private static final long LONG_NANOS = TimeUnit.MINUTES.toNanos(10);

    /** A call that may be retried. */
    public interface Call<T> {
        T run() throws IOException, InterruptedException;
    }

    /** A call without a result. */
    public interface Action {
        void run() throws IOException, InterruptedException;
    }

    /** Outages; tests replace it. */
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

    /** Retries without a limit, once a call has succeeded. */
    public static Patience endless() {
        return new Patience(Optional.empty(), Clock.SYSTEM, false);
    }

    /** As {@link #endless}, for a task that resumes from a state: its calls have succeeded before. */
    public static Patience endlessAfterRestore() {
        return new Patience(Optional.empty(), Clock.SYSTEM, true);
    }

    /**
     * For a batch ingest: retries for an hour, once a call has succeeded, so that its packed work is not lost. A user
     * waits for its end.
     */
    public static Patience ofBatch() {
        return new Patience(Optional.of(BATCH_LIMIT), Clock.SYSTEM, false);
    }

    /** As {@link #ofBatch}, for a call that follows much work. */
    public static Patience ofBatchAtWork() {
        return new Patience(Optional.of(BATCH_LIMIT), Clock.SYSTEM, true);
    }

    /**
     * Runs a call until it succeeds, or fails for a reason that is not temporary.
     *
     * @param what the action for the log: {@code writing a chunk of …}
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
                        LOG.info("{} succeeded after {} s of retries", what, seconds(began));
                    }
                    return result;
                } catch (IOException | RuntimeException e) {
                    long now = clock.nanos();
                    if (now - attempted > LONG_NANOS) {
                        // The call had worked again until now.
                        pause = FIRST_PAUSE;
                        began = now;
                    }
                    began = attempt == 1 ? now : began;
                    if (!isRepeated(e, Duration.ofNanos(now - began).plus(pause))) {
                        throw e;
                    }
                    if (attempt == 1 || now - told >= TELL_NANOS) {
                        told = now;
                        LOG.warn("{} failed; retrying until it succeeds: {}", what, e.toString());
                    }
                    id = id == null ? new Object() : id;
                    Outages.note(id, e.getMessage() == null ? e.toString() : e.getMessage());
                }
                clock.pause(pause);
                Duration next = pause.multipliedBy(2);
                pause = next.compareTo(LONGEST_PAUSE) < 0 ? next : LONGEST_PAUSE;
            }
        } finally {
            if (id != null) {
                Outages.clear(id);
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
                || (failure instanceof InterruptedIOException && !(failure instanceof SocketTimeoutException))
                || failure instanceof ClosedByInterruptException;
        if (!hasWorked || isInterrupt || (limit.isPresent() && waited.compareTo(limit.get()) > 0)) {
            return false;
        }
        // The user of a batch can free space, but does not see what the job waits for.
        boolean isOwn = limit.isPresent() && failure instanceof NoSpaceException;
        return FailureKind.of(failure) == FailureKind.PASSING && !isOwn;
    }

    private long seconds(long began) {
        return TimeUnit.NANOSECONDS.toSeconds(clock.nanos() - began);
    }
}
