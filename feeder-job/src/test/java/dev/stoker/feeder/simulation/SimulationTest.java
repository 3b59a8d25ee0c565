package dev.stoker.feeder.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whole feeds under simulated faults, see {@code docs/simulation.md}. {@code -Dtest.seed=…} runs one seed and prints
 * all that happens in it; {@code -Dtest.seeds=…} says how many seeds are run otherwise, {@code -Dtest.first-seed=…}
 * from where on, and {@code -Dtest.log=…} names a file that says how far a long run is, which resumes by it.
 */
class SimulationTest {
    /** Failures that are reported in full. */
    private static final int REPORTS = 2;

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
    void deliversEachBatchOnceWhateverFails() throws Exception {
        Seeds seeds = new Seeds(worlds);
        Long seed = Long.getLong("test.seed");
        if (seed != null) {
            seeds.run(seed, true);
            return;
        }
        int count = Integer.getInteger("test.seeds", 1_000);
        long first = Long.getLong("test.first-seed", 1);
        Optional<Path> log = Optional.ofNullable(System.getProperty("test.log")).map(Path::of);
        SortedMap<Long, Seeds.Failed> failures = seeds.runAll(first, count, log);
        assertThat(failures.values().stream().map(Throwable::getMessage).limit(REPORTS))
                .as("seeds that fail: %s", failures.keySet())
                .isEmpty();
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
}
