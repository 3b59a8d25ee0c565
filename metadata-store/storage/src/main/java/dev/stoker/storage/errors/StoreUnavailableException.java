package dev.stoker.storage.errors;

import dev.stoker.schemas.errors.StokerException;
import org.jspecify.annotations.Nullable;

/** Thrown when the store does not answer, or does not complete an operation within the time for retries. */
public final class StoreUnavailableException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** @param message the failed operation, its object, the number and duration of attempts, and what to check */
    public StoreUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
