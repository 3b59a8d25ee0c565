package dev.stoker.ingest.rows;

import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.files.WalkOrder;
import dev.stoker.ingest.rows.read.RowRun;
import dev.stoker.ingest.rows.read.RowWork;
import java.io.Serializable;
import java.util.ArrayList;

/**
 * The plan of an ingest of rows: checked and resolved. {@link RowIngestGraph} builds the job from it alone.
 *
 * @param work for the tasks
 * @param run the ingest to commit
 * @param runs the source
 * @param order of the rows in the chunks
 * @param parallelism subtasks; 0 for Flink's configured parallelism
 * @param taken chunks of the dataset whose keys must not be used again; 0 for none
 * @param lines the plan as text
 */
public record RowIngestPlan(
        RowWork work,
        IngestRun run,
        ArrayList<RowRun> runs,
        WalkOrder order,
        int parallelism,
        long taken,
        ArrayList<String> lines)
        implements Serializable {
    private static final long serialVersionUID = 1;
}
