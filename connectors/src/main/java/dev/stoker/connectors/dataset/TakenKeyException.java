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
        return inDataset(key, where, "leave the file or row out or rename it");
    }

    /**
     * The dataset already has a sample with this key.
     *
     * @param step the next step, besides the options that every ingest has
     */
    public static TakenKeyException inDataset(String key, String where, String step) {
        return new TakenKeyException("The dataset already has a sample with the key " + key + ", in " + where + "; "
                + step
                + ", keep the stored sample with --on-duplicate skip, take the new one with --on-duplicate replace,"
                + " or replace all samples with --replace instead of --append (INSERT OVERWRITE in SQL)");
    }

    /** Another writer has committed a sample with this key, and the ingest would have left its own out. */
    public static TakenKeyException meanwhile(String key, String where) {
        return new TakenKeyException("Another writer has committed a sample with the key " + key + " in " + where
                + "; run the ingest again, and it leaves this key out");
    }

    /**
     * Two rows of a source have this key.
     *
     * @param first place of one of them
     * @param second place of the other
     * @param step the next step that keeps both
     */
    public static TakenKeyException twice(String key, String first, String second, String step) {
        return new TakenKeyException("The key " + key + " occurs twice in this ingest: " + first + " and " + second
                + " have it; nothing is committed; " + step + ", or keep one of them with --on-duplicate first|last");
    }

    /** A tree lists a file twice. */
    public static TakenKeyException listedTwice(String key) {
        return new TakenKeyException("The key " + key
                + " occurs twice in this ingest: the source lists this file twice; nothing is committed, run the ingest"
                + " again");
    }

    /** Two rows that a sink writes have this key. */
    public static TakenKeyException twiceInRows(String key) {
        return new TakenKeyException("The key " + key
                + " occurs twice in the rows to write; nothing is committed, remove one of the rows or choose another"
                + " key");
    }
}
