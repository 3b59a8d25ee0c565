package dev.stoker.connectors.kafka;

import dev.stoker.schemas.errors.StokerException;
import org.jspecify.annotations.Nullable;

/**
 * A topic or a broker does not meet a feed's requirements. The message names the setting and the command that changes
 * it.
 */
public class TopicException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** @param message the problem and its topic, expected and found, and the next step */
    public TopicException(String message) {
        super(message);
    }

    /**
     * @param message the problem and its topic, expected and found, and the next step
     * @param cause the underlying failure
     */
    public TopicException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
