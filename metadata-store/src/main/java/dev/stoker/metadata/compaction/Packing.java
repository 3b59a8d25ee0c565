package dev.stoker.metadata.compaction;

import dev.stoker.metadata.Dataset;
import java.time.Instant;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongConsumer;

/**
 * The state that the packers of a compaction share.
 *
 * @param dataset the dataset
 * @param plan the plan
 * @param ingest the id under which the result is committed
 * @param began the start time
 * @param written ids of the chunks that were begun; any thread may add to it
 * @param progress receives the number of bytes read since its last call; any thread may call it
 */
record Packing(
        Dataset dataset, CompactionPlan plan, String ingest, Instant began, Set<UUID> written, LongConsumer progress) {}
