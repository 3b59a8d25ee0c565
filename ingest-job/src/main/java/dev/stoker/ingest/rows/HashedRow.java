package dev.stoker.ingest.rows;

import dev.stoker.connectors.files.SkipCounts;
import java.nio.charset.StandardCharsets;

/**
 * A row on its way through the sort.
 *
 * @param hash of the key under the shuffle's seed
 * @param kind of the contents
 * @param key UTF-8
 * @param split of the row; empty for the split rule
 * @param data the values, see {@link RowBytes}; or the counts of rows that were left out
 */
record HashedRow(long hash, Kind kind, byte[] key, String split, byte[] data) {
    private static final byte[] NOTHING = {};

    /** The kinds. The order of the constants is part of the layout. */
    enum Kind {
        ROW,
        /** Only a key, which the dataset already has. */
        TAKEN,
        /** Counts of rows that were left out. */
        COUNTS,
        /** Descriptions of rows that were left out, as JSON lines. */
        SKIPS
    }

    static HashedRow taken(long hash, byte[] key) {
        return new HashedRow(hash, Kind.TAKEN, key, "", NOTHING);
    }

    static HashedRow skips(String lines) {
        return new HashedRow(0, Kind.SKIPS, NOTHING, "", lines.getBytes(StandardCharsets.UTF_8));
    }

    static HashedRow of(SkipCounts counts) {
        return new HashedRow(0, Kind.COUNTS, NOTHING, "", counts.toBytes());
    }
}
