package dev.stoker.metadata.erasure;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.text.Units;

/** Thrown when no chunk file of a dataset has a sample with a key. Nothing is changed. */
public final class UnerasableKeyException extends StokerException {
    private static final long serialVersionUID = 1L;

    UnerasableKeyException(String dataset, String key, int more) {
        super("No chunk file of dataset " + dataset + " has a sample '" + key + "'"
                + (more == 0 ? "" : ", nor " + Units.plural(more, "other") + " of the given keys")
                + "; nothing was erased");
    }
}
