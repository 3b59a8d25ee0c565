package dev.stoker.connectors.kafka;

import dev.stoker.schemas.errors.StokerException;

/** The topic that a feed has written to is there no more, or another one has its name: waiting does not mend that. */
public final class TopicGoneException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** @param message which topic, what has become of it, and what to do */
    public TopicGoneException(String message) {
        super(message);
    }
}
