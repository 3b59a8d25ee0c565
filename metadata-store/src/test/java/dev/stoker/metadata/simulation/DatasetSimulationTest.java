package dev.stoker.metadata.simulation;

import dev.stoker.schemas.testing.Rounds;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/**
 * Random lives of datasets, see {@code docs/simulation.md}. {@code -Dtest.seed=… -Dtest.round=…} runs one life and
 * prints what happens.
 */
class DatasetSimulationTest {

    @Test
    void everyReaderSeesTheSamplesOfTheModelWhateverFails(TestInfo test) {
        Rounds.of(test).seconds(4).atLeast(10).run((random, round) -> {
            DatasetSimulation simulation = new DatasetSimulation(random);
            try {
                simulation.run();
            } catch (Exception | AssertionError e) {
                List<String> trace = simulation.trace();
                throw new AssertionError("after '" + trace.get(trace.size() - 1) + "': " + e, e);
            } finally {
                if (Rounds.isReplay()) {
                    simulation.trace().forEach(System.out::println);
                }
            }
        });
    }
}
