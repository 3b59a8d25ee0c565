package dev.stoker.storage.errors;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.ObjectStore;

/** Thrown when the store has no space (or no quota) for another object. */
public final class NoSpaceException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** @param where location of the object, as returned by {@link ObjectStore#describe} */
    public NoSpaceException(String where, Throwable cause) {
        super(
                "No space left to write " + where
                        + "; free some space (or raise the quota) and run the same command again",
                cause);
    }
}
