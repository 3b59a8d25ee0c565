package dev.stoker.client.errors;

/**
 * A feed cannot continue. Unchecked, so that a trainer can iterate with {@code for}. The subclass says what happened,
 * and the message says on what, and the next step.
 */
public class FeedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public FeedException(String message) {
        super(message);
    }

    public FeedException(String message, Throwable cause) {
        super(message, cause);
    }
}
