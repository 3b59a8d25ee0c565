package dev.stoker.metadata;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectInfo;
import java.util.Collections;
import java.util.NavigableMap;

/**
 * Contains the newest version of a log at the time of a reading. The next reading can start from it if only new entries
 * have been added to the log; see {@link VersionLog#newestTable}. Immutable and thread-safe.
 *
 * @param table chunk table of the version
 * @param ingest ingest id of the version; empty if its entry was not read
 * @param content bytes of the version's log entry; empty if it was not read
 * @param listed the version's and earlier log entries, as listings showed them, by version
 * @param newestTable version of the newest chunk table's file; 0 if there is none
 */
public record LogTip(
        ChunkTable table, String ingest, byte[] content, NavigableMap<Long, ObjectInfo> listed, long newestTable) {

    public long version() {
        return table.version();
    }

    /** Returns a version whose entry was not read. */
    static LogTip unread(ChunkTable table) {
        return new LogTip(table, "", new byte[0], Collections.emptyNavigableMap(), 0);
    }

    /** Returns whether the log entry of the version was read. Version 0 has none. */
    boolean hasEntry() {
        return content.length > 0;
    }

    /**
     * Returns the tip after a further entry.
     *
     * @param next table of its version
     */
    public LogTip with(LogEntry entry, ChunkTable next) {
        return new LogTip(next, entry.ingest(), entry.encode(), listed, newestTable);
    }

    /** Returns the tip after further entries. */
    public LogTip with(VersionLog.Entries later, long laterTable) throws CorruptDataException {
        if (later.list().isEmpty()) {
            return new LogTip(table, ingest, content, later.listed(), laterTable);
        }
        String last = later.list().get(later.list().size() - 1).ingest();
        return new LogTip(table.with(later.list()), last, later.newest(), later.listed(), laterTable);
    }

    /** Returns whether the entries before this version look in a listing as they did when this tip was read. */
    boolean isBasedOn(NavigableMap<Long, ObjectInfo> now) {
        return now.headMap(version(), false).entrySet().stream()
                .allMatch(entry -> entry.getValue().equals(listed.get(entry.getKey())));
    }
}
