package dev.stoker.client.errors;

/**
 * Another live process has this place of the group. The message names its host and process. End that process, or read
 * in another group ({@code FeedClientBuilder.group}).
 */
public final class PlaceTakenException extends FeedProtocolException {
    private static final long serialVersionUID = 1L;

    public PlaceTakenException(String message) {
        super(message, "place_taken");
    }
}
