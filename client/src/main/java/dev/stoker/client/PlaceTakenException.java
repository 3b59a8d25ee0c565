package dev.stoker.client;

/**
 * Another live process reads in this place of the group; the message names its host and process. End that process, or read in a
 * group of your own ({@link FeedClientBuilder#group}).
 */
public final class PlaceTakenException extends RefusedException {
    private static final long serialVersionUID = 1L;

    PlaceTakenException(String message) {
        super(message, "place_taken");
    }
}
