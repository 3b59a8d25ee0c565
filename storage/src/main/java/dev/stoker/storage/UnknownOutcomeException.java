package dev.stoker.storage;

import dev.stoker.schemas.errors.StokerException;

/** The store cannot tell whether the object was created. Read it back before anything else, and delete nothing. */
public final class UnknownOutcomeException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** @param where the object, as {@link ObjectStore#describe} gives it */
    public UnknownOutcomeException(String where, Throwable cause) {
        super("Unknown whether " + where + " was created: " + cause.getMessage(), cause);
    }
}
