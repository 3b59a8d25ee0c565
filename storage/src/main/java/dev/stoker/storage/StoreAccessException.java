package dev.stoker.storage;

import dev.stoker.schemas.errors.StokerException;

/** Thrown when the credentials do not permit the operation, are missing, or have expired. */
public final class StoreAccessException extends StokerException {
    private static final long serialVersionUID = 1L;

    private final boolean expired;

    /** @param message what was refused, on what, by whom, and what to check; never a credential */
    public StoreAccessException(String message, Throwable cause) {
        this(message, cause, false);
    }

    private StoreAccessException(String message, Throwable cause, boolean expired) {
        super(message, cause);
        this.expired = expired;
    }

    /** As the other, of credentials that were good and have to be renewed. */
    public static StoreAccessException expired(String message, Throwable cause) {
        return new StoreAccessException(message, cause, true);
    }

    /** Whether the credentials were good once: then the refusal says nothing about the object. */
    public boolean isExpired() {
        return expired;
    }
}
