package dev.stoker.storage.errors;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.ObjectStore;

/**
 * Thrown when the store cannot tell whether the object was created. The caller must read it back before any other step,
 * and must delete nothing.
 */
public final class UnknownOutcomeException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** @param where location of the object, as returned by {@link ObjectStore#describe} */
    public UnknownOutcomeException(String where, Throwable cause) {
        super("Unknown whether " + where + " was created: " + cause.getMessage(), cause);
    }
}
