package dev.stoker.metadata.version;

import dev.stoker.schemas.errors.StokerException;
import java.util.Collection;

/** Thrown when the dataset has no such tag. */
public final class UnknownTagException extends StokerException {
    private static final long serialVersionUID = 1L;

    public UnknownTagException(String where, String name, Collection<String> known) {
        super("The dataset " + where + " has no tag " + name + "; it has "
                + (known.isEmpty() ? "no tags" : String.join(", ", known)));
    }
}
