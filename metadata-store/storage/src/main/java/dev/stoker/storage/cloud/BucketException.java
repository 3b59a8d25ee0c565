package dev.stoker.storage.cloud;

import dev.stoker.storage.retry.StoreFailureKind;
import java.io.IOException;

/** Thrown when a cloud refuses a request or does not answer it. */
final class BucketException extends IOException {
    private static final long serialVersionUID = 1L;

    private final StoreFailureKind kind;

    /** @param message the answer in one line */
    BucketException(StoreFailureKind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    StoreFailureKind kind() {
        return kind;
    }
}
