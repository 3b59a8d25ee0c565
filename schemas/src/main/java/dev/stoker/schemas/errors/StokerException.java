package dev.stoker.schemas.errors;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Base class of the failures that a caller may distinguish from a plain I/O error. */
public class StokerException extends IOException {
    private static final long serialVersionUID = 1L;

    /** @param message the failure, its object, the expected and found values, and the next step */
    public StokerException(String message) {
        super(message);
    }

    /**
     * @param message the failure, its object, the expected and found values, and the next step
     * @param cause the cause
     */
    public StokerException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
