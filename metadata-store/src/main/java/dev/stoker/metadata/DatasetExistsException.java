package dev.stoker.metadata;

import dev.stoker.schemas.errors.StokerException;

/** Thrown when the location already contains a dataset. */
public final class DatasetExistsException extends StokerException {
    private static final long serialVersionUID = 1L;

    public DatasetExistsException(String where) {
        super(where + " is a Stoker dataset already; choose another path, or add to it");
    }
}
