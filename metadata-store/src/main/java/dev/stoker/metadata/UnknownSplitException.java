package dev.stoker.metadata;

import dev.stoker.schemas.errors.StokerException;
import java.util.List;

/** Thrown when the version has no such split. */
public final class UnknownSplitException extends StokerException {
    private static final long serialVersionUID = 1L;

    UnknownSplitException(String dataset, long version, String split, List<String> splits) {
        super("Version " + version + " of dataset " + dataset + " has no split '" + split + "'; it has "
                + (splits.isEmpty() ? "none" : String.join(", ", splits)));
    }
}
