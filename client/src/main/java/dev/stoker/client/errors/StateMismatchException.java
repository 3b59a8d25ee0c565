package dev.stoker.client.errors;

/** A resume state, or a restarted feed, belongs to another dataset, version, split or order. */
public final class StateMismatchException extends FeedException {
    private static final long serialVersionUID = 1L;

    public StateMismatchException(String message) {
        super(message);
    }
}
