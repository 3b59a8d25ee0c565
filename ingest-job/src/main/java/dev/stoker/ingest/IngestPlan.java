package dev.stoker.ingest;

import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.ingest.pack.plan.PackPlan;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * The plan of an ingest: checked and resolved. {@link IngestGraph} builds the job from it alone.
 *
 * @param pack for the packing tasks
 * @param run the ingest to commit
 * @param reading how the tree is read
 * @param excludedKeys the keys that were given to be left out
 * @param lines the plan as text
 */
public record IngestPlan(
        PackPlan pack, IngestRun run, Reading reading, ExcludedKeys excludedKeys, ArrayList<String> lines)
        implements Serializable {

    private static final long serialVersionUID = 1;

    /**
     * How the tree is read.
     *
     * @param parallelism subtasks; 0 for Flink's configured parallelism
     * @param limit take only this number of samples, the first ones; {@link Long#MAX_VALUE} for all
     * @param taken chunks of the dataset whose keys must not be used again; 0 for none
     */
    public record Reading(int parallelism, long limit, long taken) implements Serializable {
        private static final long serialVersionUID = 1;
    }

    IngestPlan(PackPlan pack, IngestRun run, Reading reading, ExcludedKeys excludedKeys, List<String> lines) {
        this(pack, run, reading, excludedKeys, new ArrayList<>(lines));
    }
}
