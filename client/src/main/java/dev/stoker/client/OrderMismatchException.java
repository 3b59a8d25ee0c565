package dev.stoker.client;

/** The order asked for is not the one that the group already reads by. */
public final class OrderMismatchException extends RefusedException {
    private static final long serialVersionUID = 1L;

    OrderMismatchException(String message) {
        super(message, "order_mismatch");
    }
}
