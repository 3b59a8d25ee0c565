package dev.stoker.ingest;

import dev.stoker.schemas.errors.StokerException;

/** An ingest has not committed a version. The message is one line that says why and what to do. */
public final class IngestFailedException extends StokerException {

    private static final long serialVersionUID = 1;

    private final String ingestId;

    public IngestFailedException(String message, String ingestId, Throwable cause) {
        super(message, cause);
        this.ingestId = ingestId;
    }

    /** The id under which the ingest can be gone on with. */
    public String ingestId() {
        return ingestId;
    }
}
