package dev.stoker.metadata.update;

import java.io.IOException;

/** Reports that a version has all the given values already. Nothing was committed. */
public final class NothingToUpdateException extends IOException {

    private static final long serialVersionUID = 1;

    NothingToUpdateException(String dataset, long version) {
        super("version " + version + " of dataset " + dataset + " has these values already; nothing was committed");
    }
}
