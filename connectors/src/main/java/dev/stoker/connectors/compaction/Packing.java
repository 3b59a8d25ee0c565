package dev.stoker.connectors.compaction;

import dev.stoker.metadata.Dataset;
import java.time.Instant;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongConsumer;

/**
 * What the packers of a compaction share.
 *
 * @param dataset that is compacted
 * @param plan what is done
 * @param ingest the id under which it is committed
 * @param began when
 * @param written ids of the chunks that were begun; for any thread
 * @param progress told how many bytes were read since it was told last; for any thread
 */
record Packing(
        Dataset dataset, CompactionPlan plan, String ingest, Instant began, Set<UUID> written, LongConsumer progress) {}
