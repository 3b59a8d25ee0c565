package dev.stoker.feeder.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whole feeds under simulated faults, see {@code docs/simulation.md}. {@code -Dtest.seed=…} runs one seed and prints all that
 * happens in it; {@code -Dtest.seeds=…} says how many seeds are run otherwise, {@code -Dtest.first-seed=…} from where on.
 */
class SimulationTest {
    private static final int TRACED_LINES = 400;
    private static final String FEEDER = "dev.stoker.feeder";

    @TempDir
    static Path directory;

    private static Worlds worlds;

    @BeforeAll
    static void prepare() throws IOException {
        // Processes that are killed would fill the log.
        Configurator.setLevel(FEEDER, Level.OFF);
        worlds = new Worlds(directory);
    }

    @AfterAll
    static void speakAgain() {
        Configurator.setLevel(FEEDER, (Level) null);
    }

    @Test
    void deliversEachBatchOnceWhateverFails() throws Exception {
        Long seed = Long.getLong("test.seed");
        if (seed != null) {
            run(seed, true);
            return;
        }
        int seeds = Integer.getInteger("test.seeds", 1_000);
        long first = Long.getLong("test.first-seed", 1);
        System.out.println("seeds " + first + " to " + (first + seeds - 1));
        // More than there are processors, as a simulation often waits for one of its threads to wake.
        ExecutorService workers =
                Executors.newFixedThreadPool(2 * Runtime.getRuntime().availableProcessors());
        try {
            List<Future<?>> runs = new ArrayList<>();
            for (long i = first; i < first + seeds; i++) {
                long next = i;
                runs.add(workers.submit(() -> run(next, false)));
            }
            for (Future<?> run : runs) {
                run.get();
            }
        } finally {
            workers.shutdownNow();
        }
    }

    @Test
    void runsAlikeWithTheSameSeed() throws IOException {
        for (long seed = 1; seed <= 5; seed++) {
            assertThat(traced(seed)).isEqualTo(traced(seed));
        }
    }

    private static List<String> traced(long seed) throws IOException {
        Cluster cluster = new Cluster(worlds, seed, false);
        cluster.run();
        return cluster.simulation().trace();
    }

    private static void run(long seed, boolean isLoud) {
        Cluster cluster = new Cluster(worlds, seed, isLoud);
        try {
            cluster.run();
        } catch (IOException | RuntimeException | Error e) {
            List<String> trace = cluster.simulation().trace();
            String last = String.join("\n", trace.subList(Math.max(0, trace.size() - TRACED_LINES), trace.size()));
            throw new AssertionError(
                    "seed " + seed + ": " + e.getMessage() + "\n\n" + cluster.failed() + "\n" + last
                            + "\n\nReplay it with -Dtest=SimulationTest#deliversEachBatchOnceWhateverFails -Dtest.seed="
                            + seed,
                    e);
        }
    }
}
