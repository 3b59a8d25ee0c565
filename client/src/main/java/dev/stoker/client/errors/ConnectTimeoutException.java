package dev.stoker.client.errors;

/** No feeder answered in time. */
public final class ConnectTimeoutException extends FeedException {
    private static final long serialVersionUID = 1L;

    public ConnectTimeoutException(String message) {
        super(message);
    }
}
