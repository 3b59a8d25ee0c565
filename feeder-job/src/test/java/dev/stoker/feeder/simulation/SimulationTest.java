package dev.stoker.feeder.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.testing.Rounds;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whole feeds under simulated faults, see {@code docs/simulation.md}. {@code -Dtest.seed=… -Dtest.round=…} runs one
 * simulation and prints all that happens in it.
 */
class SimulationTest {
    /** Number of last events in the message of a failure. */
    private static final int TRACED_LINES = 400;

    private static final String FEEDER = "dev.stoker";

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
    void deliversEachBatchOnceWhateverFails(TestInfo test) {
        int processors = Runtime.getRuntime().availableProcessors();
        // Without virtual threads more than there are processors: a simulation often waits for a thread to wake.
        int workers = CheapThreads.areThere() ? processors : 2 * processors;
        ExecutorService pool =
                CheapThreads.areThere() ? CheapThreads.pool(workers) : Executors.newFixedThreadPool(workers);
        try {
            Rounds.of(test).seconds(10).atLeast(100).run(pool, workers, (random, round) -> run(random));
        } finally {
            pool.shutdownNow();
        }
    }

    /** Fails with the last events and the final state. */
    private static void run(Random random) {
        Cluster cluster = new Cluster(worlds, random.nextLong(), Rounds.isReplay());
        try {
            cluster.run();
        } catch (IOException | RuntimeException | Error e) {
            List<String> trace = cluster.simulation().trace();
            List<String> last = trace.subList(Math.max(0, trace.size() - TRACED_LINES), trace.size());
            throw new AssertionError(
                    e.getMessage() + "\n\n" + cluster.failed() + "\n" + String.join("\n", last) + "\n", e);
        }
    }

    @Test
    void runsAlikeWithTheSameSeed(TestInfo test) {
        Rounds.of(test).seconds(1).atLeast(2).run((random, round) -> {
            long seed = random.nextLong();
            assertThat(traced(seed)).isEqualTo(traced(seed));
        });
    }

    private static List<String> traced(long seed) throws IOException {
        Cluster cluster = new Cluster(worlds, seed, false);
        cluster.run();
        return cluster.simulation().trace();
    }
}
