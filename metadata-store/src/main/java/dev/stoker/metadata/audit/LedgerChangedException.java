package dev.stoker.metadata.audit;

import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;

/** Thrown when a ledger file is gone that was there when the files were listed. */
final class LedgerChangedException extends IOException {
    private static final long serialVersionUID = 1L;

    LedgerChangedException(NoSuchObjectException cause) {
        super(cause.getMessage() + "; it was there a moment ago: start the audit again", cause);
    }
}
