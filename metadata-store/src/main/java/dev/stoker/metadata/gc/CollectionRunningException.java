package dev.stoker.metadata.gc;

import dev.stoker.schemas.dataset.Lease;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.text.ShellText;

/** Thrown when a garbage collection may be deleting chunks that a copy would rely on. */
public final class CollectionRunningException extends StokerException {
    private static final long serialVersionUID = 1L;

    public CollectionRunningException(String where, Lease lease) {
        super("Garbage collection " + lease.ingest() + " of " + lease.by() + " is running on " + where + " since "
                + lease.created() + "; try again when it has ended. If its process is dead, run: stoker gc "
                + ShellText.word(where)
                + " --break " + lease.ingest() + " --yes");
    }
}
