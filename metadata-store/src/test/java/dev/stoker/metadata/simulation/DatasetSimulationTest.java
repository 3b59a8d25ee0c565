package dev.stoker.metadata.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/**
 * Random lives of datasets, see {@code docs/simulation.md}. {@code -Dtest.seed=…} runs one seed and prints what
 * happens; {@code -Dtest.seeds=…} says how many are run otherwise, and {@code -Dtest.first-seed=…} from where on.
 */
class DatasetSimulationTest {

    @Test
    void everyReaderSeesTheSamplesOfTheModelWhateverFails() {
        Long only = Long.getLong("test.seed");
        if (only != null) {
            DatasetSimulation simulation = new DatasetSimulation(only);
            try {
                simulation.run();
            } catch (Exception | AssertionError e) {
                throw new AssertionError("seed " + only, e);
            } finally {
                simulation.trace().forEach(System.out::println);
            }
            return;
        }
        long first = Long.getLong("test.first-seed", 1);
        int count = Integer.getInteger("test.seeds", 20);
        List<String> failures = new ArrayList<>();
        for (long seed = first; seed < first + count; seed++) {
            DatasetSimulation simulation = new DatasetSimulation(seed);
            try {
                simulation.run();
            } catch (Exception | AssertionError e) {
                List<String> trace = simulation.trace();
                failures.add("seed " + seed + " after '" + trace.get(trace.size() - 1) + "': " + e);
            }
        }
        System.out.printf(Locale.ROOT, "%d seeds from %d, %d failed%n", count, first, failures.size());
        assertThat(failures).isEmpty();
    }
}
