package dev.stoker.connectors.chunks;

import dev.stoker.schemas.errors.StokerException;

/** A sample's key is in the dataset already, or twice in the ingest. */
public final class TakenKeyException extends StokerException {

    private static final long serialVersionUID = 1;

    private TakenKeyException(String message) {
        super(message);
    }

    /** The dataset has a sample of this key. */
    public static TakenKeyException inDataset(String key, String where) {
        return new TakenKeyException("The dataset has a sample with the key " + key + " already, in " + where
                + "; leave the file out, rename it, or make a new version of all with --replace");
    }

    /** Two files have this key. */
    public static TakenKeyException twice(String key) {
        return new TakenKeyException("The key " + key + " comes twice in this ingest; rename one of the files");
    }
}
