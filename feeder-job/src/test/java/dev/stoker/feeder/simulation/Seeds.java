package dev.stoker.feeder.simulation;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;

/**
 * Runs the simulations of a range of seeds, several at a time. It goes on after a failure, so that one run finds all seeds that
 * fail.
 */
final class Seeds {
    /** Last events in the message of a failure; a report has as many as the simulation keeps. */
    private static final int TRACED_LINES = 400;
    /** Seeds to which the log gives a line. */
    private static final int BLOCK = 1_000;

    private final Worlds worlds;

    /** A seed that fails. */
    static final class Failed extends AssertionError {
        private static final long serialVersionUID = 1L;

        private final String report;

        Failed(String message, String report, Throwable cause) {
            super(message, cause);
            this.report = report;
        }

        /** All that is known. */
        String report() {
            return report;
        }
    }

    Seeds(Worlds worlds) {
        this.worlds = worlds;
    }

    /**
     * Runs a range of seeds by itself and writes a line for each thousand of them into a log. A range that the log has already is
     * left out, so an interrupted run is resumed by the same command.
     *
     * @param arguments first seed, number of seeds, log file; reports of failures go into a folder beside it
     */
    public static void main(String[] arguments) throws Exception {
        Configurator.setLevel("dev.stoker.feeder", Level.OFF);
        long first = Long.parseLong(arguments[0]);
        long count = Long.parseLong(arguments[1]);
        Path log = Path.of(arguments[2]);
        Path directory = Files.createTempDirectory("simulation");
        try {
            Seeds seeds = new Seeds(new Worlds(directory));
            for (long next = first; next < first + count; next += BLOCK) {
                seeds.runBlock(next, Math.min(BLOCK, first + count - next), log);
            }
        } finally {
            deleteAll(directory);
        }
        // Simulated threads that hang must not keep the process.
        System.exit(0);
    }

    private static void deleteAll(Path directory) throws IOException {
        try (var files = Files.walk(directory)) {
            for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(file);
            }
        }
    }

    private void runBlock(long first, long count, Path log) throws Exception {
        String name = "seeds " + first + " to " + (first + count - 1) + ":";
        if (Files.exists(log) && Files.readAllLines(log).stream().anyMatch(line -> line.startsWith(name))) {
            return;
        }
        long began = System.nanoTime();
        SortedMap<Long, Failed> failures = run(first, count);
        double seconds = (System.nanoTime() - began) / 1e9;
        for (Map.Entry<Long, Failed> failure : failures.entrySet()) {
            Path reports = Files.createDirectories(log.resolveSibling(log.getFileName() + ".failures"));
            Files.writeString(reports.resolve("seed-" + failure.getKey() + ".txt"), failure.getValue().report());
        }
        String line = String.format(
                Locale.ROOT,
                "%s %s, %.0f s, %.1f seeds/s%n",
                name,
                failures.isEmpty() ? "ok" : "FAILED " + failures.keySet(),
                seconds,
                count / seconds);
        Files.write(
                log, line.getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** Runs all of the seeds; returns what is wrong with those that fail. */
    SortedMap<Long, Failed> run(long first, long count) throws InterruptedException, ExecutionException {
        SortedMap<Long, Failed> failures = new TreeMap<>();
        // More than there are processors, as a simulation often waits for one of its threads to wake.
        ExecutorService workers =
                Executors.newFixedThreadPool(2 * Runtime.getRuntime().availableProcessors());
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
     * @throws Failed if a promise is broken; the message has the last events and how things stood
     */
    void run(long seed, boolean isLoud) {
        Cluster cluster = new Cluster(worlds, seed, isLoud);
        try {
            cluster.run();
        } catch (IOException | RuntimeException | Error e) {
            List<String> trace = cluster.simulation().trace();
            List<String> last = trace.subList(Math.max(0, trace.size() - TRACED_LINES), trace.size());
            String replay = "Replay it with -Dtest=SimulationTest#deliversEachBatchOnceWhateverFails -Dtest.seed=" + seed;
            String head = "seed " + seed + ": " + e.getMessage() + "\n\n" + cluster.failed() + "\n";
            throw new Failed(
                    head + String.join("\n", last) + "\n\n" + replay, head + String.join("\n", trace) + '\n', e);
        }
    }
}
