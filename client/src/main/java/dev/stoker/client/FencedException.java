package dev.stoker.client;

/** Another process, or a newer client of this process, has taken this trainer's place in the group permanently. */
public final class FencedException extends RefusedException {
    private static final long serialVersionUID = 1L;

    FencedException(String message) {
        super(message, "fenced");
    }
}
