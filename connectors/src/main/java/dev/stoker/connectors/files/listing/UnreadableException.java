package dev.stoker.connectors.files.listing;

import dev.stoker.schemas.errors.StokerException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;

/** A file or directory of the source cannot be used. The message is one line and names the next step. */
public final class UnreadableException extends StokerException {

    private static final long serialVersionUID = 1;

    public UnreadableException(String message) {
        super(message);
    }

    public UnreadableException(String path, IOException cause) {
        super(
                "Cannot read " + path + ": " + reason(cause)
                        + "; make it readable, or leave such files out with --on-error skip",
                cause);
    }

    private static String reason(IOException cause) {
        if (cause instanceof AccessDeniedException) {
            return "permission denied";
        }
        if (cause instanceof FileSystemException system && system.getReason() != null) {
            return system.getReason();
        }
        return cause.getMessage() == null ? cause.toString() : cause.getMessage();
    }
}
