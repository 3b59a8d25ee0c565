package dev.stoker.client;

import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.protocol.parts.Caller;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What the environment of a process says about its trainer: its rank and its launch, and the settings that it takes
 * from {@code STOKER_*} variables. Immutable.
 */
final class TrainerEnvironment {
    /** Launchers, and their variables for the number of a task and the number of tasks. */
    private static final List<List<String>> TASKS = List.of(
            List.of("Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
            List.of("Slurm", "SLURM_PROCID", "SLURM_NTASKS"),
            List.of("MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
            List.of("MPI", "PMI_RANK", "PMI_SIZE"));

    private static final Pattern DIGITS = Pattern.compile("[0-9]{1,9}");

    private final Map<String, String> variables;

    TrainerEnvironment(Map<String, String> variables) {
        this.variables = variables;
    }

    /**
     * Returns the rank of {@code RANK} and {@code WORLD_SIZE}, or else a single rank.
     *
     * @throws IllegalArgumentException if only one of them is set, or if one is not a number
     */
    Participant participant() {
        String rank = variables.get("RANK");
        String worldSize = variables.get("WORLD_SIZE");
        if (rank == null && worldSize == null) {
            return Participant.rank(0, 1);
        }
        if (rank == null || worldSize == null) {
            throw new IllegalArgumentException("only one of RANK and WORLD_SIZE is set; set both");
        }
        return Participant.rank((int) number("RANK", rank), (int) number("WORLD_SIZE", worldSize));
    }

    /**
     * Returns a warning for a reader of the whole stream if Slurm or MPI say that they have started several tasks. The
     * Python package gives the same one.
     */
    Optional<String> lonelyTask() {
        for (List<String> names : TASKS) {
            String task = variables.getOrDefault(names.get(1), "");
            String tasks = variables.getOrDefault(names.get(2), "");
            if (DIGITS.matcher(task).matches() && DIGITS.matcher(tasks).matches()) {
                return Integer.parseInt(tasks) < 2
                        ? Optional.empty()
                        : Optional.of("this is task " + task + " of " + tasks + " for " + names.get(0) + " ("
                                + names.get(1) + ", " + names.get(2) + "), but the feed reads as rank 0 of 1, so every"
                                + " task gets all batches; set RANK and WORLD_SIZE, or call rank(rank, worldSize)"
                                + " (rank(0, 1) if this is wanted)");
            }
        }
        return Optional.empty();
    }

    /** Returns the number of the launch; 0 if the feed decides. */
    long run() {
        return number("STOKER_RUN", variables.getOrDefault("STOKER_RUN", "0"));
    }

    /** Returns how long to wait for a place that another live process has. */
    Duration placeTimeout() {
        return Duration.ofSeconds(number("STOKER_PLACE_TIMEOUT", variables.getOrDefault("STOKER_PLACE_TIMEOUT", "30")));
    }

    /** Returns whether closing the client prints its report. */
    boolean isReported() {
        return variables.getOrDefault("STOKER_REPORT", "").equals("1");
    }

    /** Describes this process and its launcher for HELLO. */
    Caller caller() {
        return new Caller(0, 0, false, Optional.of(Processes.instance(variables)), Processes.launch(variables));
    }

    private static long number(String variable, String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(variable + "='" + text + "' is not a number", e);
        }
    }
}
