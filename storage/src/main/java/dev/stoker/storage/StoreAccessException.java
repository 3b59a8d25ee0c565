package dev.stoker.storage;

import dev.stoker.schemas.errors.StokerException;

/** The store does not permit the operation with these credentials, or there are none, or they have expired. */
public final class StoreAccessException extends StokerException {
    private static final long serialVersionUID = 1L;

    private final boolean expired;

    /** @param message the operation, its object and the user, and what to check; never a credential */
    public StoreAccessException(String message, Throwable cause) {
        this(message, cause, false);
    }

    private StoreAccessException(String message, Throwable cause, boolean expired) {
        super(message, cause);
        this.expired = expired;
    }

    /** As the constructor, for credentials that were valid and must be renewed. */
    public static StoreAccessException expired(String message, Throwable cause) {
        return new StoreAccessException(message, cause, true);
    }

    /** Whether the credentials were valid before. Then the refusal says nothing about the object. */
    public boolean isExpired() {
        return expired;
    }
}
