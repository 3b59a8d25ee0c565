package dev.stoker.storage.retry;

import java.io.IOException;

/** Thrown when a reply ended too early or arrived too slowly. The object may be intact. */
public final class BrokenReadException extends IOException {
    private static final long serialVersionUID = 1L;

    public BrokenReadException(String message) {
        super(message);
    }
}
