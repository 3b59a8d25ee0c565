package dev.stoker.connectors.kafka;

import dev.stoker.schemas.errors.StokerException;

/** A topic or a broker is not as a feed needs it; the message names the setting and the command that changes it. */
public class TopicException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** @param message what is wrong with which topic, expected and found, and what to do */
    public TopicException(String message) {
        super(message);
    }

    /**
     * @param message what is wrong with which topic, expected and found, and what to do
     * @param cause the failure below
     */
    public TopicException(String message, Throwable cause) {
        super(message, cause);
    }
}
