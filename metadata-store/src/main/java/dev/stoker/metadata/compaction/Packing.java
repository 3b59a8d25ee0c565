package dev.stoker.metadata.compaction;

import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.arrow.types.Field;
import java.time.Instant;
import java.util.List;

/**
 * What the packers of a process share.
 *
 * @param dataset the dataset
 * @param plan the plan
 * @param ingest the id under which the result is committed
 * @param began the start time
 */
record Packing(Dataset dataset, CompactionPlan plan, String ingest, Instant began) {

    /** Returns the fields of the version that the plan is for. */
    List<Field> fields() {
        return plan.table().added().in(dataset.info().fields());
    }
}
