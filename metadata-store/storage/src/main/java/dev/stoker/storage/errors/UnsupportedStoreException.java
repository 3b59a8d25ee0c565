package dev.stoker.storage.errors;

import dev.stoker.schemas.errors.StokerException;

/** Thrown when the kind of store is unknown, or lacks an operation that a dataset needs. */
public final class UnsupportedStoreException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** @param message the store, the missing capability, and the alternative */
    public UnsupportedStoreException(String message) {
        super(message);
    }

    /** @param message the store, the missing capability, and the alternative */
    public UnsupportedStoreException(String message, Throwable cause) {
        super(message, cause);
    }
}
