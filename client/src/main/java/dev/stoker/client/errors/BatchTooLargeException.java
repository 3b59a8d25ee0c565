package dev.stoker.client.errors;

/** A batch would exceed 2 GiB; a smaller batch size is needed. */
public final class BatchTooLargeException extends FeedProtocolException {
    private static final long serialVersionUID = 1L;

    public BatchTooLargeException(String message) {
        super(message, "too_large");
    }
}
