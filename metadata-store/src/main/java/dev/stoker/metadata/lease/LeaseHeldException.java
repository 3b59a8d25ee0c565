package dev.stoker.metadata.lease;

import dev.stoker.schemas.dataset.Lease;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.text.ShellText;

/** Thrown when another writer is running on a dataset that this writer must create alone. */
public final class LeaseHeldException extends StokerException {
    private static final long serialVersionUID = 1L;

    private final String ingest;

    LeaseHeldException(String where, Lease lease) {
        super("Another writer is at work on the new dataset " + where + ": ingest " + lease.ingest() + " of "
                + lease.by() + ", since " + lease.created()
                + ". Nothing was packed. Write beside it by appending (--append), or wait until it has finished; if it"
                + " is dead, resume it under its id (--ingest-id " + lease.ingest() + "), or end it with: stoker gc "
                + ShellText.word(where) + " --break " + lease.ingest() + " --yes");
        this.ingest = lease.ingest();
    }

    /** Returns the ingest id of the other writer. */
    public String ingest() {
        return ingest;
    }
}
