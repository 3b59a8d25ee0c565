package dev.stoker.metadata;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.text.ShellText;

/** Thrown when a dataset has a log or chunks but no dataset.json. */
public final class LostDescriptionException extends StokerException {
    private static final long serialVersionUID = 1L;

    LostDescriptionException(String where) {
        super(where + " has the log or the chunks of a dataset, but no " + DatasetLayout.DATASET_JSON
                + "; restore it with `stoker recover " + ShellText.word(where) + "`");
    }
}
