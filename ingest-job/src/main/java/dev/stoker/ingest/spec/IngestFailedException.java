package dev.stoker.ingest.spec;

import dev.stoker.metadata.commit.CommitUnknownException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.errors.UnknownOutcomeException;
import org.jspecify.annotations.Nullable;

/** An ingest has not committed a version. The message is one line with the reason and the next step. */
public final class IngestFailedException extends StokerException {

    private static final long serialVersionUID = 1;

    private final String ingestId;

    public IngestFailedException(String message, String ingestId, @Nullable Throwable cause) {
        super(message, cause);
        this.ingestId = ingestId;
    }

    /** Returns whether a version may have been committed although the ingest failed. */
    public static boolean mayBeCommitted(Throwable failure) {
        return has(failure, CommitUnknownException.class) || has(failure, UnknownOutcomeException.class);
    }

    /** Returns whether a failure has a cause of a type. */
    public static boolean has(Throwable failure, Class<?> type) {
        for (Throwable t = failure; t != null; t = t.getCause()) {
            if (type.isInstance(t)) {
                return true;
            }
        }
        return false;
    }

    /** The id with which the ingest can be resumed. */
    public String ingestId() {
        return ingestId;
    }
}
