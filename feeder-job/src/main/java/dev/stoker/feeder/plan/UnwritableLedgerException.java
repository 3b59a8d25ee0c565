package dev.stoker.feeder.plan;

import dev.stoker.schemas.errors.StokerException;
import org.jspecify.annotations.Nullable;

/** The ledger of a feed cannot be written where it was to be. By default it is in the dataset. */
public final class UnwritableLedgerException extends StokerException {
    private static final long serialVersionUID = 1;

    UnwritableLedgerException(String location, String reason, @Nullable Throwable cause) {
        super(
                "the ledger cannot be written to " + location + ": " + reason
                        + "; give another directory or URI with --ledger PLACE",
                cause);
    }
}
