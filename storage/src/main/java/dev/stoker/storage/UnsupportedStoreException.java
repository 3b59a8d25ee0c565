package dev.stoker.storage;

import dev.stoker.schemas.errors.StokerException;

/** The kind of store is unknown, or cannot do what a dataset needs of it. */
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
