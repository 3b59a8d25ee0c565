package dev.stoker.connectors.compaction;

import dev.stoker.schemas.log.LogEntry;
import java.util.Optional;

/**
 * How a compaction ended.
 *
 * @param entry the version that it made; empty if it turned out that there was nothing to gain
 * @param isRepeated whether an earlier run under the same id had made it
 * @param leftOut chunks that were left as they are, since others changed them meanwhile
 */
public record CompactionResult(Optional<LogEntry> entry, boolean isRepeated, int leftOut) {}
