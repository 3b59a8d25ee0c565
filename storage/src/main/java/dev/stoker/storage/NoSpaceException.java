package dev.stoker.storage;

import dev.stoker.schemas.errors.StokerException;

/** The store has no space or quota for another object. */
public final class NoSpaceException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** @param where the object, as {@link ObjectStore#describe} gives it */
    public NoSpaceException(String where, Throwable cause) {
        super(
                "No space left to write " + where
                        + "; free some space (or raise the quota) and run the same command again",
                cause);
    }
}
