package dev.stoker.connectors.chunks;

import dev.stoker.schemas.errors.StokerException;

/** A version would be wrong if it were committed. The message is one line that says what to do. */
public final class CommitRefusedException extends StokerException {

    private static final long serialVersionUID = 1;

    CommitRefusedException(String message) {
        super(message);
    }

    CommitRefusedException(String message, Throwable cause) {
        super(message, cause);
    }
}
