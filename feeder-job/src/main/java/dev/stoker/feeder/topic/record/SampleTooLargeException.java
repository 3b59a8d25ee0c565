package dev.stoker.feeder.topic.record;

import dev.stoker.schemas.errors.StokerException;

/** A sample does not fit into a record; trying again does not help. */
final class SampleTooLargeException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** @param message names the sample, its size and the setting */
    SampleTooLargeException(String message) {
        super(message);
    }
}
