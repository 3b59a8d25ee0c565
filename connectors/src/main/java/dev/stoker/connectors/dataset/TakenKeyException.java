package dev.stoker.connectors.dataset;

import dev.stoker.schemas.errors.StokerException;

/** A sample's key is already in the dataset, or occurs twice in the ingest. */
public final class TakenKeyException extends StokerException {

    private static final long serialVersionUID = 1;

    private TakenKeyException(String message) {
        super(message);
    }

    /** The dataset already has a sample with this key. */
    public static TakenKeyException inDataset(String key, String where) {
        return new TakenKeyException("The dataset already has a sample with the key " + key + ", in " + where
                + "; leave the file or row out or rename it, see --on-duplicate skip|replace, or replace all samples"
                + " with --replace (INSERT OVERWRITE in SQL)");
    }

    /** Another writer has committed a sample with this key, and the ingest would have left its own out. */
    public static TakenKeyException meanwhile(String key, String where) {
        return new TakenKeyException("Another writer has committed a sample with the key " + key + " in " + where
                + "; run the ingest again, and it leaves this key out");
    }

    /** Two files have this key. */
    public static TakenKeyException twice(String key) {
        return new TakenKeyException("The key " + key
                + " occurs twice in this ingest; rename one of the files, choose other columns with --key, or see"
                + " --on-duplicate first|last");
    }

    /** Two rows that a sink writes have this key. */
    public static TakenKeyException twiceInRows(String key) {
        return new TakenKeyException("The key " + key
                + " occurs twice in the rows to write; nothing is committed, remove one of the rows or choose another"
                + " key");
    }
}
