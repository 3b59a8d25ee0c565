package dev.stoker.metadata;

import dev.stoker.schemas.dataset.Tag;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.text.ShellText;

/** Thrown when a tag names another version, or another process has just changed it. */
public final class TagExistsException extends StokerException {
    private static final long serialVersionUID = 1L;

    TagExistsException(String where, Tag found) {
        super(
                found.isDeleted()
                        ? "Tag " + found.name() + " of " + where + " was deleted by " + found.by() + " at "
                                + found.created() + "; repeat the command to create it again"
                        : "Tag " + found.name() + " of " + where + " names version " + found.version() + " since "
                                + found.created() + ", by " + found.by() + "; move it with: stoker tag "
                                + ShellText.word(where) + " " + found.name() + " VERSION --move");
    }
}
