package dev.stoker.connectors.dataset;

import dev.stoker.schemas.errors.StokerException;
import java.util.Locale;

/** More records of a stream are unusable than the limit allows. */
public final class TooManyDeadLettersException extends StokerException {

    private static final long serialVersionUID = 1;

    private TooManyDeadLettersException(String message) {
        super(message);
    }

    /** As {@link #of(long, long, String)}, without an example. */
    public static TooManyDeadLettersException of(long found, long most) {
        return of(found, most, "");
    }

    /** @param last the problem of the last unusable record */
    public static TooManyDeadLettersException of(long found, long most, String last) {
        return new TooManyDeadLettersException(String.format(
                Locale.ROOT,
                "%,d records could not be used, but the limit is %,d%s; look at the dead letters, then correct the"
                        + " options or raise the limit, such as with --max-dead-letters %d, and start again",
                found,
                most,
                last.isEmpty() ? "" : " (the last one: " + last + ")",
                10 * found));
    }
}
