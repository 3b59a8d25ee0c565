package dev.stoker.formats;

import java.io.IOException;

/** Thrown when a file is sound, but uses something that Stoker does not read. */
public final class UnsupportedFileException extends IOException {
    private static final long serialVersionUID = 1L;

    /** @param message names the file, the row group, block or offset, and the next step */
    public UnsupportedFileException(String message) {
        super(message);
    }

    /**
     * @param message names the file, the row group, block or offset, and the next step
     * @param cause the cause
     */
    public UnsupportedFileException(String message, Throwable cause) {
        super(message, cause);
    }
}
