package dev.stoker.client;

/** A newer run of the same rank, worker and replica has taken over. */
public final class FencedException extends RefusedException {
    private static final long serialVersionUID = 1L;

    FencedException(String message) {
        super(message, "fenced");
    }
}
