package dev.stoker.client.errors;

/** No feed of that name is known on this machine, or no name was given. */
public final class FeedNotFoundException extends FeedException {
    private static final long serialVersionUID = 1L;

    public FeedNotFoundException(String message) {
        super(message);
    }
}
