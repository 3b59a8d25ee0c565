package dev.stoker.metadata;

import dev.stoker.schemas.log.LogEntry;

/**
 * A commit that took place.
 *
 * @param entry what was committed
 * @param repeated whether an earlier attempt under the same ingest id had committed it already
 */
public record Commit(LogEntry entry, boolean repeated) {

    public long version() {
        return entry.version();
    }
}
