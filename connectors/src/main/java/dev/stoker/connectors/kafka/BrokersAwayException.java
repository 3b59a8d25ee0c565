package dev.stoker.connectors.kafka;

import dev.stoker.flink.failure.Passing;
import org.jspecify.annotations.Nullable;

/** No broker answered in time or correctly. A retry may succeed. */
public final class BrokersAwayException extends TopicException implements Passing {
    private static final long serialVersionUID = 1L;

    /**
     * @param message the topic, its location, and what to check
     * @param cause the underlying failure; null for none
     */
    public BrokersAwayException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
