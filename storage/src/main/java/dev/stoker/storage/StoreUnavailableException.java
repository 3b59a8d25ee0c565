package dev.stoker.storage;

import dev.stoker.schemas.errors.StokerException;

/** The store is not there, or did not do what was asked in the time that is given to retries. */
public final class StoreUnavailableException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** @param message what failed, on what, how often it was tried, how long, and what to check */
    public StoreUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
