package dev.stoker.mount.fuse;

import dev.stoker.schemas.errors.StokerException;

/** A directory cannot be mounted or unmounted; the message names the next step. */
public final class MountException extends StokerException {

    private static final long serialVersionUID = 1L;

    MountException(String message) {
        super(message);
    }

    MountException(String message, Throwable cause) {
        super(message, cause);
    }
}
