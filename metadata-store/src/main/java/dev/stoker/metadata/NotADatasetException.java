package dev.stoker.metadata;

import dev.stoker.schemas.errors.StokerException;

/** Thrown when the location contains no dataset. */
public final class NotADatasetException extends StokerException {
    private static final long serialVersionUID = 1L;

    public NotADatasetException(String where) {
        super(where + " is not a Stoker dataset: it has no " + DatasetLayout.DATASET_JSON
                + "; check the path, or pack a dataset there with `stoker ingest`");
    }
}
