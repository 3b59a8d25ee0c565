package dev.stoker.formats;

/**
 * Bounds for the first rows, from which the columns of a file are inferred: whichever ends first.
 *
 * @param rows number of rows
 * @param bytes bytes of the decompressed file
 */
public record InferenceLimits(int rows, long bytes) {
    /** For JSON lines and CSV. */
    public static final InferenceLimits TEXT = new InferenceLimits(10_000, 16L << 20);

    /** For WebDataset and TFRecord, whose rows are large. */
    public static final InferenceLimits RECORDS = new InferenceLimits(1_000, 64L << 20);
}
