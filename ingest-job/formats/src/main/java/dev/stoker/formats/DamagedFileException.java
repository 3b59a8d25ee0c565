package dev.stoker.formats;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import org.jspecify.annotations.Nullable;

/** Thrown when a file is not what its format requires: truncated, corrupt, or longer than it says. */
public final class DamagedFileException extends IOException {
    private static final long serialVersionUID = 1L;

    /** @param message names the file, the row group, block or offset, and the next step */
    public DamagedFileException(String message) {
        super(message);
    }

    /**
     * @param message names the file, the row group, block or offset, and the next step
     * @param cause the cause, or null
     */
    public DamagedFileException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /**
     * Returns what a failure adds to a message: a colon and its text, or nothing for an error of Java, whose text says
     * nothing about the file.
     */
    public static String reason(Throwable failure) {
        String text = failure.getMessage();
        boolean isOfJava = failure instanceof NullPointerException
                || failure instanceof IndexOutOfBoundsException
                || failure instanceof ClassCastException
                || failure instanceof NegativeArraySizeException
                || failure instanceof BufferUnderflowException;
        return text == null || isOfJava ? "" : ": " + text;
    }
}
