package dev.stoker.connectors.files;

import java.util.Objects;

/**
 * A group of paths for the sort: one Flink record for many files. All files of a bundle belong to one place of the
 * sort: a bucket of the shuffle, or a run of one directory's listing.
 *
 * @param kind of the contents
 * @param place the bucket, or the number of the run within its directory
 * @param directory in a listing the directory, as {@link ListedKey} sorts it; otherwise empty
 * @param count the number of files
 * @param bytes the sum of their sizes
 * @param data entries one after the other, see {@link FileEntries} and {@link SkipCounts}
 */
public record PathBundle(Kind kind, int place, byte[] directory, int count, long bytes, byte[] data) {

    private static final byte[] NO_DIRECTORY = {};

    /** The kind of a bundle's contents. The order of the constants is part of the layout. */
    public enum Kind {
        /** Files of the tree. */
        FILES,
        /** Keys that the dataset already has, in the same format as files. */
        TAKEN,
        /** Counts of skipped entries. */
        COUNTS
    }

    /** Buckets of the shuffle. A bucket is sorted in memory after Flink's sort. */
    public static final int BUCKETS = 4096;

    public PathBundle {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(directory, "directory");
        Objects.requireNonNull(data, "data");
    }

    /** The counts of a reader's skipped entries. */
    public static PathBundle of(SkipCounts counts) {
        return new PathBundle(Kind.COUNTS, 0, NO_DIRECTORY, 0, 0, counts.toBytes());
    }

    /** Files of one bucket of the shuffle. */
    public static PathBundle ofBucket(Kind kind, int bucket, FileEntries.Writer entries) {
        return new PathBundle(kind, bucket, NO_DIRECTORY, entries.count(), entries.bytes(), entries.take());
    }

    /** The bucket of a hash: buckets in ascending order hold hashes in ascending unsigned order. */
    public static int bucketOf(long hash) {
        return (int) (hash >>> 52);
    }

    /** The key of the shuffle's sort: a greater place has greater bytes, compared signed or unsigned. */
    public int bucketKey() {
        return place >> 7 << 8 | (place & 0x7f);
    }
}
