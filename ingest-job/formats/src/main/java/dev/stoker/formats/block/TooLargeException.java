package dev.stoker.formats.block;

import java.io.IOException;

/** Thrown when a block decompresses to more bytes than the caller allows. */
public final class TooLargeException extends IOException {
    private static final long serialVersionUID = 1L;

    TooLargeException(String message) {
        super(message);
    }
}
