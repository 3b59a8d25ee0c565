package dev.stoker.connectors.kafka;

import dev.stoker.schemas.errors.StokerException;

/** The topic that a feed has written to no longer exists, or another one has its name. A retry cannot succeed. */
public final class TopicGoneException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** @param message the topic, what happened to it, and the next step */
    public TopicGoneException(String message) {
        super(message);
    }
}
