package dev.stoker.connectors.kafka;

import dev.stoker.connectors.failure.Passing;

/** No broker has answered in time, or not as it should; one may later. */
public final class BrokersAwayException extends TopicException implements Passing {
    private static final long serialVersionUID = 1L;

    /**
     * @param message which topic, where, and what to check
     * @param cause the failure below; null for none
     */
    public BrokersAwayException(String message, Throwable cause) {
        super(message, cause);
    }
}
