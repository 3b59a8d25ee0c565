package dev.stoker.connectors.kafka.registry;

import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.flink.failure.Passing;
import org.jspecify.annotations.Nullable;

/** The schema registry did not answer, or answered that it cannot serve requests at present. A retry may succeed. */
public final class RegistryAwayException extends TopicException implements Passing {
    private static final long serialVersionUID = 1L;

    /**
     * @param message the registry, and what it answered
     * @param cause the underlying failure; null for none
     */
    public RegistryAwayException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
