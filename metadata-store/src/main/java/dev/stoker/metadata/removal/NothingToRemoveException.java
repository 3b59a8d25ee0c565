package dev.stoker.metadata.removal;

import dev.stoker.schemas.errors.StokerException;

/** Thrown when a rule selects no sample of a version. Nothing is committed. */
public final class NothingToRemoveException extends StokerException {
    private static final long serialVersionUID = 1L;

    NothingToRemoveException(String dataset, long version) {
        super("Version " + version + " of dataset " + dataset + " has none of the samples; nothing was committed");
    }
}
