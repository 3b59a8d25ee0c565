package dev.stoker.connectors.dataset;

/**
 * What an ingest does if the dataset already has a key, or if the key occurs twice in the source. The first and the
 * last of two samples are meant in the order of the source.
 */
public enum OnDuplicate {
    /** Both are errors. */
    FAIL,
    /** The dataset's sample stays. Of the source, the first sample is taken. */
    SKIP,
    /** The new sample replaces the dataset's sample. Of the source, the last sample is taken. */
    REPLACE,
    /** Of the source, the first sample is taken. A key that the dataset has is an error. */
    FIRST,
    /** Of the source, the last sample is taken. A key that the dataset has is an error. */
    LAST;

    /** Lists what can happen to a new sample whose key the dataset already has. */
    public enum Stored {
        REFUSES,
        STAYS,
        IS_REPLACED
    }

    /** Returns what happens if the dataset already has a key. */
    public Stored stored() {
        return switch (this) {
            case FAIL, FIRST, LAST -> Stored.REFUSES;
            case SKIP -> Stored.STAYS;
            case REPLACE -> Stored.IS_REPLACED;
        };
    }

    /** Returns whether the later of two samples of the source is taken. */
    public boolean takesLast() {
        return this == REPLACE || this == LAST;
    }
}
