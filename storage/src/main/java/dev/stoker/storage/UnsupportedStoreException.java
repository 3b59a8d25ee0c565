package dev.stoker.storage;

import dev.stoker.schemas.errors.StokerException;

/** Thrown when the kind of store is unknown, or lacks an operation that a dataset needs. */
public final class UnsupportedStoreException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** @param message which store, what it lacks, and what to do instead */
    public UnsupportedStoreException(String message) {
        super(message);
    }

    /** @param message which store, what it lacks, and what to do instead */
    public UnsupportedStoreException(String message, Throwable cause) {
        super(message, cause);
    }
}
