package dev.stoker.feeder.registry;

import dev.stoker.schemas.errors.StokerException;

/** A feed of the same name is running already. */
public final class FeedRunningException extends StokerException {
    private static final long serialVersionUID = 1;

    FeedRunningException(String message) {
        super(message);
    }
}
