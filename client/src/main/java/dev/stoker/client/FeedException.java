package dev.stoker.client;

/**
 * A feed cannot go on. Unchecked, so that a trainer may iterate with {@code for}; what happened is told by the subclass, and
 * the message says on what, and what to do next.
 */
public class FeedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    FeedException(String message) {
        super(message);
    }

    FeedException(String message, Throwable cause) {
        super(message, cause);
    }
}
