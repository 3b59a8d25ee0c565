package dev.stoker.feeder.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whole feeds under simulated faults. {@code -Dtest.seed=…} runs one seed and prints all that happens in it;
 * {@code -Dtest.seeds=…} says how many are run otherwise.
 */
class SimulationTest {
    private static final int TRACED_LINES = 400;

    @TempDir
    static Path directory;

    private static Worlds worlds;

    @BeforeAll
    static void writeDatasets() throws IOException {
        worlds = new Worlds(directory);
    }

    @Test
    void deliversEachBatchOnceWhateverFails() throws IOException {
        Long seed = Long.getLong("test.seed");
        if (seed != null) {
            run(seed, true);
            return;
        }
        int seeds = Integer.getInteger("test.seeds", 1_000);
        long first = Long.getLong("test.first-seed", 1);
        for (long i = first; i < first + seeds; i++) {
            run(i, false);
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
