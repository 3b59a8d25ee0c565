package dev.stoker.server.security;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.transport.RegularFile;
import java.io.IOException;
import java.nio.file.Path;

/** A file with a token, a certificate or a key cannot be used. The message never holds what is in it. */
public final class AccessException extends StokerException {
    private static final long serialVersionUID = 1L;

    AccessException(String message) {
        super(message);
    }

    AccessException(String message, Throwable cause) {
        super(message, cause);
    }

    static AccessException unreadable(String what, Path file, IOException e, String advice) {
        return new AccessException(
                what + " " + file + " cannot be read on this machine (" + RegularFile.reason(e)
                        + "): put it on every feeder machine, readable for the user that the feeder runs as" + advice,
                e);
    }
}
