package dev.stoker.connectors.chunks;

import dev.stoker.schemas.errors.StokerException;
import java.util.Locale;

/** More records of a stream could not be used than are allowed to. */
public final class TooManyDeadLettersException extends StokerException {

    private static final long serialVersionUID = 1;

    private TooManyDeadLettersException(String message) {
        super(message);
    }

    /** With no example at hand. */
    static TooManyDeadLettersException of(long found, long most) {
        return of(found, most, "");
    }

    /** @param last what was wrong with the last one */
    public static TooManyDeadLettersException of(long found, long most, String last) {
        return new TooManyDeadLettersException(String.format(
                Locale.ROOT,
                "%,d records could not be used, and --max-dead-letters allows %,d%s; look at the dead letters, correct the"
                        + " options or allow more, and start again",
                found,
                most,
                last.isEmpty() ? "" : " (the last one: " + last + ")"));
    }
}
