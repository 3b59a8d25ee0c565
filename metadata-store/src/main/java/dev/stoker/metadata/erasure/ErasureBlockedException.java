package dev.stoker.metadata.erasure;

import dev.stoker.schemas.errors.StokerException;
import java.util.List;

/** Thrown when tags, feeds or writers keep samples from being erased. The message names them and the next steps. */
public final class ErasureBlockedException extends StokerException {
    private static final long serialVersionUID = 1L;

    ErasureBlockedException(String where, List<String> blockers) {
        super("The samples of " + where + " cannot be erased yet: " + String.join("; ", blockers)
                + ". Then run the same command again");
    }
}
