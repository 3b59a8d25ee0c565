package dev.stoker.metadata.copy;

import dev.stoker.schemas.errors.StokerException;

/** Thrown when a dataset cannot be copied to a target. Another attempt fails in the same way. */
public final class CopyRefusedException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** @param message what is in the way, and the next step */
    public CopyRefusedException(String message) {
        super(message);
    }
}
