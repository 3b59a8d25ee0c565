package dev.stoker.connectors.dataset;

import dev.stoker.schemas.errors.StokerException;

/** Committing the version would produce a wrong dataset. The message is one line and names the next step. */
public class CommitRefusedException extends StokerException {

    private static final long serialVersionUID = 1;

    public CommitRefusedException(String message) {
        super(message);
    }

    public CommitRefusedException(String message, Throwable cause) {
        super(message, cause);
    }
}
