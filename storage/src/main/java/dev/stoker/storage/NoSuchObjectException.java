package dev.stoker.storage;

import dev.stoker.schemas.errors.StokerException;

/** An object does not exist. */
public final class NoSuchObjectException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** @param where the object, as {@link ObjectStore#describe} gives it */
    public NoSuchObjectException(String where) {
        super("There is no " + where);
    }
}
