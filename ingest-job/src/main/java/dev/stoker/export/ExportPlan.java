package dev.stoker.export;

import dev.stoker.export.task.ExportWork;
import java.io.Serializable;
import java.util.ArrayList;

/**
 * The plan of an export: checked and resolved. {@link ExportGraph} builds the job from it alone.
 *
 * @param work for the tasks
 * @param datasetId id of the dataset
 * @param parallelism subtasks; 0 for Flink's configured parallelism
 * @param rows samples to export
 * @param lines the plan as text
 */
public record ExportPlan(ExportWork work, String datasetId, int parallelism, long rows, ArrayList<String> lines)
        implements Serializable {
    private static final long serialVersionUID = 1;
}
