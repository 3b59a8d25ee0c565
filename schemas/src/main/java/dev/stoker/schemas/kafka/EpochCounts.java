package dev.stoker.schemas.kafka;

/**
 * Counts the records that an epoch has written to a partition.
 *
 * @param records number of batch records; duplicates count once
 * @param rows number of rows in them
 * @param skipped number of rows that were left out
 */
public record EpochCounts(long records, long rows, long skipped) {
    /** No records. */
    public static final EpochCounts NONE = new EpochCounts(0, 0, 0);

    public EpochCounts {
        if (records < 0 || rows < 0 || skipped < 0) {
            throw new IllegalArgumentException("no counts: " + records + " records, " + rows + " rows, " + skipped);
        }
    }

    /** Returns the counts with one more record. */
    public EpochCounts plus(RecordHeader record) {
        return new EpochCounts(records + 1, rows + record.rows(), skipped + record.skipped());
    }
}
