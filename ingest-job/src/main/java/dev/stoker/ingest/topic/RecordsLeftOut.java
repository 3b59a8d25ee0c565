package dev.stoker.ingest.topic;

import dev.stoker.schemas.text.Units;

/** The records of a topic that an ingest can leave out. They are neither samples nor dead letters. */
public enum RecordsLeftOut {
    /** Records without a value, which delete their keys from a compacted topic. */
    TOMBSTONES("without a value"),
    /** Records whose key a sample already has. */
    DUPLICATES("whose key a sample already has");

    private final String words;

    RecordsLeftOut(String words) {
        this.words = words;
    }

    /** Describes a number of them. */
    public String text(long count) {
        return Units.plural(count, "record") + " " + words;
    }
}
