package dev.stoker.schemas.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.TestInfo;
import org.opentest4j.TestAbortedException;

/**
 * The rounds of a random test. A test names a budget of seconds and a minimum of rounds:
 *
 * <pre>{@code
 * Rounds.of(test).seconds(1).atLeast(100).run((random, round) -> …);
 * }</pre>
 *
 * <p>{@code -Dtest.effort=10} multiplies the budgets of all tests by ten. The minimum runs at any speed of the machine.
 * A test that is stopped below it fails. A test without a budget runs its minimum only.
 *
 * <p>Each round gets randomness that depends on the seed and the round alone. So {@code -Dtest.seed=N -Dtest.round=K}
 * repeats exactly one round. A round that once failed has a line in {@code known-seeds.txt} and runs before the others.
 *
 * <p>{@code -Dtest.rounds=N} raises the minimum for a long run of one test, and {@code -Dtest.first=K} names its first
 * round. A long run continues after a failure, names all rounds that failed, and prints its progress each minute.
 */
public final class Rounds {
    /** Failed rounds after which a long run stops. */
    private static final int MOST_FAILED = 20;

    private static final long REPORT_NANOS = 60_000_000_000L;

    private final String test;
    private final String title;
    private double seconds;
    private long minimum = 1;

    private final Settings settings;

    /** What happens in a round. */
    @FunctionalInterface
    public interface Round {
        /** Runs a round, which takes all of its randomness from {@code random}. */
        void run(Random random, long round) throws Exception;
    }

    /** The options of this run. */
    record Settings(
            double effort,
            long seed,
            OptionalLong onlyRound,
            OptionalLong rounds,
            long first,
            KnownSeeds known,
            Consumer<String> out) {
        private static Settings ofProperties() {
            String effort = System.getProperty("test.effort", "");
            return new Settings(
                    effort.isEmpty() ? 1 : Double.parseDouble(effort),
                    TestSeed.value(),
                    TestSeed.onlyRound(),
                    TestSeed.number("test.rounds"),
                    TestSeed.number("test.first").orElse(0),
                    KnownSeeds.ofClassPath(),
                    System.out::println);
        }
    }

    private static final class OfThisRun {
        private static final Settings SETTINGS = Settings.ofProperties();
    }

    private Rounds(String test, String title, Settings settings) {
        this.test = test;
        this.title = title;
        this.settings = settings;
    }

    /** Returns the rounds of the test that runs, one of no budget and one round. */
    public static Rounds of(TestInfo test) {
        String name = test.getTestClass().orElseThrow().getSimpleName() + "."
                + test.getTestMethod().orElseThrow().getName();
        String cell = test.getDisplayName();
        return new Rounds(name, cell.startsWith("[") ? name + cell : name, OfThisRun.SETTINGS);
    }

    static Rounds of(String test, Settings settings) {
        return new Rounds(test, test, settings);
    }

    /** Returns whether this run repeats one round that the options name. */
    public static boolean isReplay() {
        return OfThisRun.SETTINGS.onlyRound().isPresent();
    }

    /**
     * Returns whether this run is to try all cases where others draw some: {@code -Dtest.exhaustive=true}. Tests of
     * schedules have such a mode.
     */
    public static boolean areExhaustive() {
        return Boolean.getBoolean("test.exhaustive");
    }

    /** Sets the time to run for, in seconds, at effort 1. */
    public Rounds seconds(double seconds) {
        this.seconds = seconds;
        return this;
    }

    /** Sets the number of rounds to run at any speed. */
    public Rounds atLeast(long rounds) {
        this.minimum = rounds;
        return this;
    }

    /**
     * Runs the rounds, one after the other.
     *
     * @return the number of rounds that ran, without those that once failed
     * @throws AssertionError if a round fails, which names the round and the options that repeat it
     */
    public long run(Round body) {
        return runAll(new Progress(body), Progress::work);
    }

    /** Runs the rounds like {@link #run(Round)}, as many at once as {@code workers} says. */
    public long run(ExecutorService pool, int workers, Round body) {
        return runAll(new Progress(body), progress -> {
            List<Future<?>> futures = new ArrayList<>();
            for (int i = 0; i < workers; i++) {
                futures.add(pool.submit(progress::work));
            }
            for (Future<?> future : futures) {
                try {
                    future.get();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    progress.stop();
                } catch (ExecutionException e) {
                    throw new AssertionError(title + " failed outside of its rounds: " + e.getCause(), e.getCause());
                }
            }
        });
    }

    private interface Runner {
        void run(Progress progress);
    }

    private long runAll(Progress progress, Runner runner) {
        if (settings.onlyRound().isPresent()) {
            long round = settings.onlyRound().getAsLong();
            print("random %s: round %d of seed %d alone", title, round, settings.seed());
            progress.run(settings.seed(), round);
            progress.requireRight();
            return 1;
        }
        for (KnownSeeds.Known known : settings.known().of(test)) {
            print("random %s: known round %d of seed %d", title, known.round(), known.seed());
            progress.run(known.seed(), known.round());
            progress.requireRight();
        }
        progress.begin();
        try {
            runner.run(progress);
        } finally {
            progress.report();
        }
        progress.requireRight();
        progress.requireEnough();
        return progress.done.get();
    }

    /** The rounds of one call of {@link #run}. All fields are safe for several workers. */
    private final class Progress {
        private final Round body;
        private final long least = Math.max(minimum, settings.rounds().orElse(0));
        private final boolean isLong = settings.rounds().isPresent();
        private final AtomicLong next = new AtomicLong();
        private final AtomicLong done = new AtomicLong();
        private final AtomicReference<Throwable> failure = new AtomicReference<>();
        private final Set<Long> failed = new ConcurrentSkipListSet<>();
        private final AtomicLong nextReport = new AtomicLong(System.nanoTime() + REPORT_NANOS);
        private volatile boolean isStopped;
        private long begin;

        Progress(Round body) {
            this.body = body;
        }

        void begin() {
            begin = System.nanoTime();
        }

        void stop() {
            isStopped = true;
        }

        void work() {
            while (!isStopped && !Thread.currentThread().isInterrupted()) {
                long index = next.getAndIncrement();
                if (index >= least && elapsed() >= seconds * settings.effort()) {
                    return;
                }
                long round = settings.first() + index;
                if (run(settings.seed(), round)) {
                    done.incrementAndGet();
                } else {
                    failed.add(round);
                    if (!isLong || failed.size() >= MOST_FAILED) {
                        stop();
                    }
                }
                if (isLong) {
                    reportProgress();
                }
            }
        }

        private void reportProgress() {
            long now = System.nanoTime();
            long due = nextReport.get();
            if (now - due >= 0 && nextReport.compareAndSet(due, now + REPORT_NANOS)) {
                print("random %s: %,d rounds so far, failed: %s", title, done.get() + failed.size(), failed);
            }
        }

        private double elapsed() {
            return (System.nanoTime() - begin) / 1e9;
        }

        /** Returns whether the round passed. */
        boolean run(long seed, long round) {
            try {
                body.run(TestSeed.random(seed, round), round);
                return true;
            } catch (TestAbortedException e) {
                failure.compareAndSet(null, e);
            } catch (Throwable e) {
                if (e instanceof InterruptedException) {
                    Thread.currentThread().interrupt();
                }
                failure.compareAndSet(
                        null,
                        new AssertionError(
                                String.format(
                                        Locale.ROOT,
                                        "%s failed in round %d of seed %d: %s%nRepeat the round with"
                                                + " -D%s=%s -Dtest.seed=%d -Dtest.round=%d",
                                        title,
                                        round,
                                        seed,
                                        text(e),
                                        test.contains("ITCase.") ? "it.test" : "test",
                                        test.replace('.', '#'),
                                        seed,
                                        round),
                                e));
            }
            return false;
        }

        void report() {
            double elapsed = Math.max(elapsed(), 1e-9);
            double rate = done.get() / elapsed;
            print(
                    rate < 10
                            ? "random %s: seed %d, %,d %s in %.1f s (%.1f/s)"
                            : "random %s: seed %d, %,d %s in %.1f s (%,.0f/s)",
                    title,
                    settings.seed(),
                    done.get(),
                    done.get() == 1 ? "round" : "rounds",
                    elapsed,
                    rate);
        }

        void requireRight() {
            Throwable found = failure.get();
            if (found instanceof TestAbortedException aborted) {
                throw aborted;
            }
            if (isLong && failed.size() > 1) {
                throw new AssertionError("rounds that failed: " + failed + "\n" + found.getMessage(), found);
            }
            if (found != null) {
                throw (AssertionError) found;
            }
        }

        void requireEnough() {
            if (done.get() < least) {
                throw new AssertionError(String.format(
                        Locale.ROOT, "%s was stopped after %,d rounds of at least %,d", title, done.get(), least));
            }
        }
    }

    private void print(String format, Object... values) {
        settings.out().accept(String.format(Locale.ROOT, format, values));
    }

    private static String text(Throwable e) {
        return e instanceof AssertionError && e.getMessage() != null
                ? e.getMessage().strip()
                : e.toString();
    }
}
