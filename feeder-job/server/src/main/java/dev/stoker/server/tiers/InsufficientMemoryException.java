package dev.stoker.server.tiers;

import java.io.IOException;

/** The feeder is to use more memory than it may; the message names the setting that helps. */
public final class InsufficientMemoryException extends IOException {
    private static final long serialVersionUID = 1L;

    InsufficientMemoryException(String message) {
        super(message);
    }
}
