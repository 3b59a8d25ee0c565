package dev.stoker.storage;

import dev.stoker.schemas.errors.StokerException;

/** Thrown when the store does not answer, or does not complete an operation within the time for retries. */
public final class StoreUnavailableException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** @param message what failed, on what, how often it was tried, how long, and what to check */
    public StoreUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
