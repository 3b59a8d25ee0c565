package dev.stoker.client;

/** A batch arrived damaged repeatedly, or the feeder cannot read it undamaged. */
public final class DamagedBatchException extends FeedException {
    private static final long serialVersionUID = 1L;

    DamagedBatchException(String message) {
        super(message);
    }
}
