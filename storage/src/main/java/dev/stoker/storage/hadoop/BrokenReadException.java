package dev.stoker.storage.hadoop;

import java.io.IOException;

/** A reply ended too early, or came too slowly; the object may be all right. */
final class BrokenReadException extends IOException {
    private static final long serialVersionUID = 1L;

    BrokenReadException(String message) {
        super(message);
    }
}
