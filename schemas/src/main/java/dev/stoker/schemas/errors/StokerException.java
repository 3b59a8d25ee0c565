package dev.stoker.schemas.errors;

import java.io.IOException;

/** Base class of the failures that a caller may distinguish from a plain I/O error. */
public class StokerException extends IOException {
    private static final long serialVersionUID = 1L;

    /** @param message what failed, on what, expected and found, and what to do next */
    public StokerException(String message) {
        super(message);
    }

    /**
     * @param message what failed, on what, expected and found, and what to do next
     * @param cause the failure below
     */
    public StokerException(String message, Throwable cause) {
        super(message, cause);
    }
}
