package dev.stoker.metadata.commit;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.text.Units;

/** Thrown when chunks of a commit are missing, or differ from the chunks that were written. */
public final class MissingChunksException extends StokerException {
    private static final long serialVersionUID = 1L;

    /**
     * @param found the problem of the first chunk
     * @param count number of affected chunks
     */
    MissingChunksException(String ingest, String file, String found, int count, int of) {
        super("Ingest " + ingest + " cannot be committed: " + file + " " + found + " (" + count + " of "
                + Units.plural(of, "chunk")
                + "); nothing is committed. Find out who deletes files there, then run the ingest again");
    }
}
