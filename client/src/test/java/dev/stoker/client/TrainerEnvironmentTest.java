package dev.stoker.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TrainerEnvironmentTest {

    private static String warning(String... variables) {
        Map<String, String> environment = new HashMap<>();
        for (int i = 0; i < variables.length; i += 2) {
            environment.put(variables[i], variables[i + 1]);
        }
        return new TrainerEnvironment(environment).lonelyTask().orElse("");
    }

    @Test
    void aLauncherOfSeveralTasksIsNoticed() {
        assertThat(warning("SLURM_PROCID", "1", "SLURM_NTASKS", "4"))
                .contains("task 1 of 4 for Slurm (SLURM_PROCID, SLURM_NTASKS)")
                .contains("every task gets all batches");
        assertThat(warning("OMPI_COMM_WORLD_RANK", "2", "OMPI_COMM_WORLD_SIZE", "8"))
                .contains("task 2 of 8 for MPI");
        assertThat(warning("PMI_RANK", "0", "PMI_SIZE", "2")).contains("task 0 of 2 for MPI (PMI_RANK, PMI_SIZE)");
    }

    @Test
    void aSingleTaskIsNotWarned() {
        assertThat(warning()).isEmpty();
        assertThat(warning("SLURM_NTASKS", "4")).isEmpty();
        assertThat(warning("SLURM_PROCID", "0", "SLURM_NTASKS", "1")).isEmpty();
        assertThat(warning("SLURM_PROCID", "0", "SLURM_NTASKS", "4", "SLURM_STEP_NUM_TASKS", "1"))
                .isEmpty();
        assertThat(warning("PMI_RANK", "0", "PMI_SIZE", "two")).isEmpty();
    }
}
