package dev.stoker.storage.hadoop;

import java.io.IOException;

/** Thrown when a reply ended too early or arrived too slowly. The object may be intact. */
final class BrokenReadException extends IOException {
    private static final long serialVersionUID = 1L;

    BrokenReadException(String message) {
        super(message);
    }
}
