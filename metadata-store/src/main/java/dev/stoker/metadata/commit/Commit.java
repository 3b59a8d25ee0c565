package dev.stoker.metadata.commit;

import dev.stoker.schemas.log.LogEntry;

/**
 * Describes a completed commit.
 *
 * @param entry the committed entry
 * @param repeated whether an earlier attempt under the same ingest id had already committed it
 */
public record Commit(LogEntry entry, boolean repeated) {

    public long version() {
        return entry.version();
    }
}
