package dev.stoker.metadata;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.text.ShellText;
import java.time.Instant;

/** Thrown when the dataset has no such version. */
public final class UnknownVersionException extends StokerException {
    private static final long serialVersionUID = 1L;

    public UnknownVersionException(String where, long version, long newest) {
        super(message(where, version, newest));
    }

    public UnknownVersionException(String where, Instant time, Instant first) {
        super("The dataset " + where + " has no version at " + time + "; version 1 was committed at " + first);
    }

    private static String message(String where, long version, long newest) {
        if (newest == 0) {
            return "The dataset " + where
                    + " has no version yet: no ingest into it has finished. If one has, its log was"
                    + " lost: stoker recover " + ShellText.word(where);
        }
        String range = newest == 1 ? "only version 1" : "versions 1 to " + newest;
        return "The dataset " + where + " has no version " + version + "; it has " + range;
    }
}
