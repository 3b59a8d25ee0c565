package dev.stoker.bench.measure;

import dev.stoker.schemas.errors.StokerException;

/** Thrown when something cannot be measured; the message says why, and what to do. */
public final class BenchException extends StokerException {
    private static final long serialVersionUID = 1L;

    public BenchException(String message) {
        super(message);
    }

    public BenchException(String message, Throwable cause) {
        super(message, cause);
    }
}
