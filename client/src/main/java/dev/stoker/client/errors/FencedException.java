package dev.stoker.client.errors;

/** Another process, or a newer client of this process, has taken this trainer's place in the group permanently. */
public final class FencedException extends FeedProtocolException {
    private static final long serialVersionUID = 1L;

    public FencedException(String message) {
        super(message, "fenced");
    }
}
