package dev.stoker.ingest.spec;

import dev.stoker.schemas.errors.StokerException;
import org.jspecify.annotations.Nullable;

/** An ingest has not committed a version. The message is one line with the reason and the next step. */
public final class IngestFailedException extends StokerException {

    private static final long serialVersionUID = 1;

    private final String ingestId;

    public IngestFailedException(String message, String ingestId, @Nullable Throwable cause) {
        super(message, cause);
        this.ingestId = ingestId;
    }

    /** The id with which the ingest can be resumed. */
    public String ingestId() {
        return ingestId;
    }
}
