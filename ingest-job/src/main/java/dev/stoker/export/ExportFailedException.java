package dev.stoker.export;

import dev.stoker.schemas.errors.StokerException;
import org.jspecify.annotations.Nullable;

/** An export has ended without a complete result. */
public final class ExportFailedException extends StokerException {
    private static final long serialVersionUID = 1;

    ExportFailedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
