package dev.stoker.client;

/** The requested order differs from the one that the group already uses. */
public final class OrderMismatchException extends RefusedException {
    private static final long serialVersionUID = 1L;

    OrderMismatchException(String message) {
        super(message, "order_mismatch");
    }
}
