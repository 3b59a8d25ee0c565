package dev.stoker.metadata.gc;

import dev.stoker.schemas.errors.StokerException;

/** Thrown when other commits or tags have left no version to expire. Nothing is committed. */
public final class NothingToExpireException extends StokerException {
    private static final long serialVersionUID = 1L;

    NothingToExpireException(String where) {
        super("The dataset " + where + " has no version to expire any more; nothing was committed");
    }
}
