package dev.stoker.client.errors;

/** The requested order differs from the one that the group already uses. */
public final class OrderMismatchException extends FeedProtocolException {
    private static final long serialVersionUID = 1L;

    public OrderMismatchException(String message) {
        super(message, "order_mismatch");
    }
}
