package dev.stoker.client.errors;

/** A batch did not arrive in time. The message names feeder, lane and waiting time. */
public final class BatchTimeoutException extends FeedException {
    private static final long serialVersionUID = 1L;

    public BatchTimeoutException(String message) {
        super(message);
    }
}
