package dev.stoker.storage;

import dev.stoker.schemas.errors.StokerException;

/** The store is unreachable, or did not perform an operation within the time limit for retries. */
public final class StoreUnavailableException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** @param message the operation, its object, the number and duration of attempts, and what to check */
    public StoreUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
