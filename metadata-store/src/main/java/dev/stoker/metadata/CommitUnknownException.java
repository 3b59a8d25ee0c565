package dev.stoker.metadata;

import dev.stoker.schemas.errors.StokerException;

/** The store cannot tell whether the commit took place. Running it again under the same ingest id settles it. */
public final class CommitUnknownException extends StokerException {
    private static final long serialVersionUID = 1L;

    CommitUnknownException(String ingest, String entry, Throwable cause) {
        super(
                "Unknown whether ingest " + ingest + " was committed as " + entry + ": " + cause.getMessage()
                        + "; run it again under the same ingest id, which commits once at most, and delete nothing before",
                cause);
    }
}
