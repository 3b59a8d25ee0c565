package dev.stoker.storage.retry;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.errors.UnsupportedStoreException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Retries calls that fail for a transient reason, with growing, jittered pauses, up to a time limit. The file systems
 * retry single requests. This class handles the failures that remain, and those that only the whole call reveals (a
 * body that ended too early, a slow transfer). Thread-safe.
 */
public final class Retries {

    private static final Logger LOG = LoggerFactory.getLogger(Retries.class);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

    private final Failures failures;
    private final Duration limit;
    private final Duration firstContactLimit;
    private volatile boolean answered;

    /**
     * @param failures classifies the exceptions of the store
     * @param limit time limit for the retries of a call
     * @param firstContactLimit the same before the first answer of the store, when the address is probably wrong
     */
    public Retries(Failures failures, Duration limit, Duration firstContactLimit) {
        this.failures = failures;
        this.limit = limit;
        this.firstContactLimit = firstContactLimit;
    }

    /** Returns the time limit for the retries of the next call. */
    public Duration limit() {
        return answered ? limit : firstContactLimit;
    }

    /** Runs the call until it succeeds, fails permanently, or reaches the time limit. The exception states which. */
    public <T> T call(String verb, String where, Call<T> call) throws IOException {
        Thread thread = Thread.currentThread();
        ClassLoader context = thread.getContextClassLoader();
        // Clients find their services with the thread's class loader.
        thread.setContextClassLoader(failures.getClass().getClassLoader());
        try (CallScope scope = CallScope.open(limit())) {
            for (int attempt = 1; ; attempt++) {
                try {
                    T result = call.run();
                    answered = true;
                    return result;
                } catch (StokerException e) {
                    answered = true;
                    throw e;
                } catch (UnsupportedOperationException e) {
                    throw new UnsupportedStoreException(
                            "Cannot " + verb + " " + where + ": this kind of file system does not support it", e);
                } catch (IOException e) {
                    StoreFailureKind kind = failures.kind(e);
                    if (kind == StoreFailureKind.ABSENT || kind == StoreFailureKind.REFUSED) {
                        answered = true;
                    }
                    boolean again = kind == StoreFailureKind.TRANSIENT
                            || kind == StoreFailureKind.EXPIRED
                            || kind == StoreFailureKind.NO_NODES;
                    Duration pause = pause(attempt);
                    if (!again || pause.compareTo(scope.left()) >= 0) {
                        throw failures.explain(verb, where, e, attempt, scope);
                    }
                    LOG.debug("Attempt {} to {} {} failed", attempt, verb, where, e);
                    sleep(pause, e);
                }
            }
        } finally {
            thread.setContextClassLoader(context);
        }
    }

    /** Returns a pause that doubles with each attempt, multiplied by a random factor between 0.5 and 1.5. */
    private static Duration pause(int attempt) {
        long full = FIRST_PAUSE.toMillis() << Math.min(attempt - 1, 10);
        long bounded = Math.min(full, LONGEST_PAUSE.toMillis());
        return Duration.ofMillis(bounded / 2 + ThreadLocalRandom.current().nextLong(bounded));
    }

    public static void sleep(Duration pause, IOException cause) throws InterruptedIOException {
        try {
            Thread.sleep(pause.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            InterruptedIOException interrupted = new InterruptedIOException("Interrupted while waiting to try again");
            interrupted.initCause(cause);
            throw interrupted;
        }
    }
}
