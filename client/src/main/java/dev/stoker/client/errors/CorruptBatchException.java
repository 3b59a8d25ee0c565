package dev.stoker.client.errors;

/** A batch arrived damaged repeatedly, or the feeder cannot read it undamaged. */
public final class CorruptBatchException extends FeedException {
    private static final long serialVersionUID = 1L;

    public CorruptBatchException(String message) {
        super(message);
    }
}
