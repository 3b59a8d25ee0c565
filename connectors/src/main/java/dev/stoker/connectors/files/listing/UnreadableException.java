package dev.stoker.connectors.files.listing;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.LocalErrors;
import java.io.IOException;

/** A file or directory of the source cannot be used. The message is one line and names the next step. */
public final class UnreadableException extends StokerException {

    private static final long serialVersionUID = 1;

    public UnreadableException(String message) {
        super(message);
    }

    public UnreadableException(String path, IOException cause) {
        super(
                "Cannot read " + path + ": " + LocalErrors.reason(cause)
                        + "; make it readable, or leave such files out with --on-error skip",
                cause);
    }
}
