package dev.stoker.ingest;

import dev.stoker.ingest.pack.plan.SyncRule;
import dev.stoker.ingest.pack.sync.SyncChanges;

/**
 * The result of a sync.
 *
 * @param ingest the version that was committed, or the newest one if there was nothing to commit
 * @param changes numbers and first keys of the changes
 * @param run whether anything could be written
 */
public record SyncResult(IngestResult ingest, SyncChanges changes, SyncRule.Run run) {}
