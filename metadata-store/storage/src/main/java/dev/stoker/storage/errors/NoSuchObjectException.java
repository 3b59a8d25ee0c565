package dev.stoker.storage.errors;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.ObjectStore;

/** Thrown when no object has the requested name. */
public final class NoSuchObjectException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** @param where location of the object, as returned by {@link ObjectStore#describe} */
    public NoSuchObjectException(String where) {
        super("There is no " + where);
    }
}
