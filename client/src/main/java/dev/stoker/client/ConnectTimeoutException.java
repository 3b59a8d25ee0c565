package dev.stoker.client;

/** No feeder answered in time. */
public final class ConnectTimeoutException extends FeedException {
    private static final long serialVersionUID = 1L;

    ConnectTimeoutException(String message) {
        super(message);
    }
}
