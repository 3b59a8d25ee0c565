package dev.stoker.metadata.compaction;

import dev.stoker.schemas.log.LogEntry;
import java.util.Optional;

/**
 * The result of a compaction.
 *
 * @param entry the new version; empty if there was nothing to improve
 * @param isRepeated whether an earlier run under the same id had committed it
 * @param leftOut chunks that were skipped because other commits changed them meanwhile
 */
public record CompactionResult(Optional<LogEntry> entry, boolean isRepeated, int leftOut) {}
