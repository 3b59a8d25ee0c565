package dev.stoker.metadata.removal;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.text.Units;

/** Thrown when the version has no sample with the key. */
public final class UnknownKeyException extends StokerException {
    private static final long serialVersionUID = 1L;

    public UnknownKeyException(String dataset, long version, String key, int more) {
        super("Version " + version + " of dataset " + dataset + " has no sample '" + key + "'"
                + (more == 0 ? "" : ", nor " + Units.plural(more, "other") + " of the given keys"));
    }
}
