package dev.stoker.ingest.spec;

import java.io.IOException;

/** A {@link KeyFile} that does not exist, or has something that is no key. */
public final class InvalidKeysException extends IOException {

    private static final long serialVersionUID = 1;

    InvalidKeysException(String message) {
        super(message);
    }
}
