package dev.stoker.metadata.removal;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.text.Units;

/** Thrown when the version has no sample with the key. */
public final class UnknownKeyException extends StokerException {
    private static final long serialVersionUID = 1L;

    public UnknownKeyException(String dataset, long version, String key, int more) {
        super("Version " + version + " of dataset " + dataset + " has no sample '"
                + (key.endsWith("\r") ? key.substring(0, key.length() - 1) : key) + "'"
                + (key.endsWith("\r") ? ", with a carriage return at its end" : "")
                + (more == 0 ? "" : ", nor " + Units.plural(more, "other") + " of the given keys"));
    }
}
