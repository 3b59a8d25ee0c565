package dev.stoker.connectors.kafka;

import dev.stoker.flink.failure.Passing;

/** No broker answered in time or correctly. A retry may succeed. */
public final class BrokersAwayException extends TopicException implements Passing {
    private static final long serialVersionUID = 1L;

    /**
     * @param message the topic, its location, and what to check
     * @param cause the underlying failure; null for none
     */
    public BrokersAwayException(String message, Throwable cause) {
        super(message, cause);
    }
}
