package dev.stoker.formats;

/** Thrown when nanoseconds since 1970 do not fit into 64 bits. Coarser units hold such times. */
public final class BeyondNanosecondsException extends BadValueException {
    private static final long serialVersionUID = 1L;

    /** @param day since 1970 */
    public BeyondNanosecondsException(long day) {
        super("day " + day + " since 1970 does not fit into timestamp[ns]");
    }
}
