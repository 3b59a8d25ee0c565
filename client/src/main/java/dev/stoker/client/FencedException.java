package dev.stoker.client;

/** Another process has taken this trainer's place in the group for good, or a newer client of this process has. */
public final class FencedException extends RefusedException {
    private static final long serialVersionUID = 1L;

    FencedException(String message) {
        super(message, "fenced");
    }
}
