package dev.stoker.metadata.commit;

import dev.stoker.schemas.errors.StokerException;

/**
 * Thrown when the store cannot tell whether the commit took place. To find out, run the commit again under the same
 * ingest id.
 */
public final class CommitUnknownException extends StokerException {
    private static final long serialVersionUID = 1L;

    CommitUnknownException(String ingest, String entry, Throwable cause) {
        super(
                "Unknown whether ingest " + ingest + " was committed as " + entry + ": " + cause.getMessage()
                        + "; run it again under the same ingest id, which commits at most once, and delete nothing"
                        + " before that",
                cause);
    }
}
