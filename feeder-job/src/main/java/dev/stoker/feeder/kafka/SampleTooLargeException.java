package dev.stoker.feeder.kafka;

import java.io.IOException;

/** A sample does not fit into a record; trying again does not help. */
final class SampleTooLargeException extends IOException {
    private static final long serialVersionUID = 1L;

    /** @param message names the sample, its size and the setting */
    SampleTooLargeException(String message) {
        super(message);
    }
}
