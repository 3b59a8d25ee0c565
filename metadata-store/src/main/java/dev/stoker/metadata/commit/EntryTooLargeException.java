package dev.stoker.metadata.commit;

import dev.stoker.schemas.errors.StokerException;

/** Thrown when a log entry would be longer than readers accept. */
public final class EntryTooLargeException extends StokerException {
    private static final long serialVersionUID = 1L;

    EntryTooLargeException(String where, String ingest, long bytes, long limit) {
        super("Ingest " + ingest + " of " + where + " cannot be committed: its log entry would have " + bytes
                + " bytes, the limit is " + limit + "; nothing is committed. Ingest in several parts, or with a larger"
                + " --chunk-size");
    }
}
