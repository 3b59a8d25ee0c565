package dev.stoker.metadata.compaction;

import dev.stoker.metadata.Dataset;
import java.time.Instant;

/**
 * What the packers of a process share.
 *
 * @param dataset the dataset
 * @param plan the plan
 * @param ingest the id under which the result is committed
 * @param began the start time
 */
record Packing(Dataset dataset, CompactionPlan plan, String ingest, Instant began) {}
