package dev.stoker.metadata.commit;

import dev.stoker.schemas.errors.StokerException;

/** Thrown when an ingest was abandoned. Nothing can be committed under its id any more. */
public final class AbandonedException extends StokerException {
    private static final long serialVersionUID = 1L;

    AbandonedException(String where, String ingest, long version) {
        super("Ingest " + ingest + " of " + where + " was ended by `stoker gc --break` (version " + version
                + " of the log); nothing is committed, start it again under a new id");
    }
}
