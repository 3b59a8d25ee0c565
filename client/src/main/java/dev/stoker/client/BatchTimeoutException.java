package dev.stoker.client;

/** A batch did not arrive in time; names feeder and lane, and since when. */
public final class BatchTimeoutException extends FeedException {
    private static final long serialVersionUID = 1L;

    BatchTimeoutException(String message) {
        super(message);
    }
}
