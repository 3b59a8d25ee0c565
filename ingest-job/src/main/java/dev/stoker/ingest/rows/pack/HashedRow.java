package dev.stoker.ingest.rows.pack;

import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.ingest.rows.source.SourcePositions;
import java.nio.charset.StandardCharsets;

/**
 * A row on its way through the sort.
 *
 * @param hash of the key under the shuffle's seed
 * @param kind of the contents
 * @param place of a row: see {@link SourcePositions}; of a key of the dataset: ordinal and row, 32 bits each
 * @param key UTF-8
 * @param split of the row; empty for the split rule
 * @param data the values, see {@link RowBytes}; or their place; or the counts of rows that were left out
 */
public record HashedRow(long hash, Kind kind, long place, byte[] key, String split, byte[] data) {
    private static final byte[] NOTHING = {};

    /** The kinds. The order of the constants is part of the layout. */
    enum Kind {
        ROW,
        /** Only a key, which the dataset already has. */
        TAKEN,
        /** Counts of rows that were left out. */
        COUNTS,
        /** Descriptions of rows that were left out, as JSON lines. */
        SKIPS,
        /** A row whose values are in {@link HeldRows}. */
        HELD
    }

    static HashedRow held(long hash, long place, byte[] key, String split, HeldRows.Place values) {
        return new HashedRow(hash, Kind.HELD, place, key, split, values.toBytes());
    }

    public static HashedRow taken(long hash, byte[] key, long ordinal, int row) {
        return new HashedRow(hash, Kind.TAKEN, ordinal << Integer.SIZE | row, key, "", NOTHING);
    }

    /** Returns whether a row comes after another one in the source. */
    boolean isAfter(HashedRow other) {
        return Long.compareUnsigned(place, other.place) > 0;
    }

    /** Returns the ordinal of the chunk of a key of the dataset. */
    long ordinal() {
        return place >>> Integer.SIZE;
    }

    /** Returns the row of a key of the dataset. */
    public int row() {
        return (int) place;
    }

    static HashedRow skips(String lines) {
        return new HashedRow(0, Kind.SKIPS, 0, NOTHING, "", lines.getBytes(StandardCharsets.UTF_8));
    }

    public static HashedRow of(SkipCounts counts) {
        return new HashedRow(0, Kind.COUNTS, 0, NOTHING, "", counts.toBytes());
    }
}
