package dev.stoker.storage;

import dev.stoker.schemas.errors.StokerException;

/** The store does not let these credentials do what was asked, or there are none, or they have expired. */
public final class StoreAccessException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** @param message what was refused, on what, by whom, and what to check; never a credential */
    public StoreAccessException(String message, Throwable cause) {
        super(message, cause);
    }
}
