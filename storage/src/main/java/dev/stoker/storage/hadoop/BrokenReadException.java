package dev.stoker.storage.hadoop;

import java.io.IOException;

/** A reply ended too early, or arrived too slowly; the object may be intact. */
final class BrokenReadException extends IOException {
    private static final long serialVersionUID = 1L;

    BrokenReadException(String message) {
        super(message);
    }
}
