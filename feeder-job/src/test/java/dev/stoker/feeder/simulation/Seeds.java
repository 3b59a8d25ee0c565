package dev.stoker.feeder.simulation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;

/**
 * Runs the simulations of a range of seeds, several at a time. It continues after a failure, so that one run finds all
 * failing seeds.
 */
final class Seeds {
    /** Number of last events in the message of a failure; a report has all events that the simulation keeps. */
    private static final int TRACED_LINES = 400;
    /** Number of seeds per line of the log. */
    private static final int BLOCK = 1_000;

    private final Worlds worlds;

    /** Thrown for a seed that fails. */
    static final class Failed extends AssertionError {
        private static final long serialVersionUID = 1L;

        private final String report;

        Failed(String message, String report, Throwable cause) {
            super(message, cause);
            this.report = report;
        }

        /** Returns the full report. */
        String report() {
            return report;
        }
    }

    Seeds(Worlds worlds) {
        this.worlds = worlds;
    }

    /**
     * Runs a range of seeds without JUnit, see {@link #runAll}.
     *
     * @param arguments first seed, number of seeds, log file
     */
    public static void main(String[] arguments) throws Exception {
        Configurator.setLevel("dev.stoker", Level.OFF);
        Path directory = Files.createTempDirectory("simulation");
        try {
            new Seeds(new Worlds(directory))
                    .runAll(
                            Long.parseLong(arguments[0]),
                            Long.parseLong(arguments[1]),
                            Optional.of(Path.of(arguments[2])));
        } finally {
            deleteAll(directory);
        }
        // Simulated threads that hang must not keep the process alive.
        System.exit(0);
    }

    /**
     * Runs a range of seeds and prints a line for each thousand of them. With a log, it also writes the lines to the
     * log and reports of failures to a directory next to it. It skips thousands that the log already contains, so that
     * the same command resumes an interrupted run.
     *
     * @return the seeds that fail
     */
    SortedMap<Long, Failed> runAll(long first, long count, Optional<Path> log) throws Exception {
        SortedMap<Long, Failed> failures = new TreeMap<>();
        for (long next = first; next < first + count; next += BLOCK) {
            failures.putAll(runBlock(next, Math.min(BLOCK, first + count - next), log));
        }
        return failures;
    }

    private static void deleteAll(Path directory) throws IOException {
        try (var files = Files.walk(directory)) {
            for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(file);
            }
        }
    }

    private SortedMap<Long, Failed> runBlock(long first, long count, Optional<Path> log) throws Exception {
        String name = "seeds " + first + " to " + (first + count - 1) + ":";
        if (log.isPresent()
                && Files.exists(log.get())
                && Files.readAllLines(log.get()).stream().anyMatch(line -> line.startsWith(name))) {
            return new TreeMap<>();
        }
        long began = System.nanoTime();
        SortedMap<Long, Failed> failures = run(first, count);
        double seconds = (System.nanoTime() - began) / 1e9;
        String line = String.format(
                Locale.ROOT,
                "%s %s, %.0f s, %.1f seeds/s",
                name,
                failures.isEmpty() ? "ok" : "FAILED " + failures.keySet(),
                seconds,
                count / seconds);
        System.out.println(line);
        if (log.isPresent()) {
            report(log.get(), line, failures);
        }
        return failures;
    }

    private static void report(Path log, String line, SortedMap<Long, Failed> failures) throws IOException {
        for (Map.Entry<Long, Failed> failure : failures.entrySet()) {
            Path reports = Files.createDirectories(log.resolveSibling(log.getFileName() + ".failures"));
            Files.writeString(
                    reports.resolve("seed-" + failure.getKey() + ".txt"),
                    failure.getValue().report());
        }
        Files.writeString(log, line + '\n', StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private SortedMap<Long, Failed> run(long first, long count) throws InterruptedException, ExecutionException {
        SortedMap<Long, Failed> failures = new TreeMap<>();
        int processors = Runtime.getRuntime().availableProcessors();
        // Without virtual threads more than there are processors: a simulation often waits for a thread to wake.
        ExecutorService workers =
                CheapThreads.areThere() ? CheapThreads.pool(processors) : Executors.newFixedThreadPool(2 * processors);
        try {
            List<Future<?>> runs = new ArrayList<>();
            for (long i = first; i < first + count; i++) {
                long seed = i;
                runs.add(workers.submit(() -> {
                    try {
                        run(seed, false);
                    } catch (Failed e) {
                        synchronized (failures) {
                            failures.put(seed, e);
                        }
                    }
                }));
            }
            for (Future<?> run : runs) {
                run.get();
            }
        } finally {
            workers.shutdownNow();
        }
        return failures;
    }

    /**
     * Runs one seed.
     *
     * @throws Failed if an invariant is violated; the message has the last events and the final state
     */
    void run(long seed, boolean isLoud) {
        Cluster cluster = new Cluster(worlds, seed, isLoud);
        try {
            cluster.run();
        } catch (IOException | RuntimeException | Error e) {
            List<String> trace = cluster.simulation().trace();
            List<String> last = trace.subList(Math.max(0, trace.size() - TRACED_LINES), trace.size());
            String replay =
                    "Replay it with -Dtest=SimulationTest#deliversEachBatchOnceWhateverFails -Dtest.seed=" + seed;
            String head = "seed " + seed + ": " + e.getMessage() + "\n\n" + cluster.failed() + "\n";
            throw new Failed(
                    head + String.join("\n", last) + "\n\n" + replay, head + String.join("\n", trace) + '\n', e);
        }
    }
}
