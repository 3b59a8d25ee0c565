package dev.stoker.server.security;

import dev.stoker.schemas.errors.StokerException;
import java.io.IOException;
import java.nio.file.FileSystemException;

/** A file with a token, a certificate or a key cannot be used. The message never holds what is in it. */
public final class AccessException extends StokerException {
    private static final long serialVersionUID = 1L;

    AccessException(String message) {
        super(message);
    }

    AccessException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Why a file cannot be read, in a word or two. */
    static String reason(IOException e) {
        return e instanceof FileSystemException known && known.getReason() != null
                ? known.getReason()
                : e.getClass().getSimpleName().replaceFirst("Exception$", "");
    }
}
