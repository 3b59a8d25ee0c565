package dev.stoker.storage.errors;

import dev.stoker.schemas.errors.StokerException;
import org.jspecify.annotations.Nullable;

/** Thrown when the credentials do not permit the operation, are missing, or have expired. */
public final class StoreAccessException extends StokerException {
    private static final long serialVersionUID = 1L;

    private final boolean expired;

    /**
     * @param message the refused operation, its object, who refused it, and what to check; never contains a credential
     */
    public StoreAccessException(String message, @Nullable Throwable cause) {
        this(message, cause, false);
    }

    private StoreAccessException(String message, @Nullable Throwable cause, boolean expired) {
        super(message, cause);
        this.expired = expired;
    }

    /** Creates an exception for credentials that were valid and must be renewed. */
    public static StoreAccessException expired(String message, @Nullable Throwable cause) {
        return new StoreAccessException(message, cause, true);
    }

    /** Returns whether the credentials were valid once. The refusal then says nothing about the object. */
    public boolean isExpired() {
        return expired;
    }
}
