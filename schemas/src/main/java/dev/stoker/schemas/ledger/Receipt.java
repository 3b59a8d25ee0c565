package dev.stoker.schemas.ledger;

/**
 * One acknowledged piece of a batch.
 *
 * @param number virtual number of the batch
 * @param piece index within the delivered batch
 * @param repeated whether the piece repeats rows
 * @param rows rows in the piece
 * @param skipped rows left out as corrupt
 * @param crc32c of the piece as the trainer computed it
 */
public record Receipt(long number, int piece, boolean repeated, int rows, int skipped, int crc32c) {
    public Receipt {
        if (number < 0 || piece < 0 || rows < 0 || skipped < 0) {
            throw new IllegalArgumentException("Receipt for number " + number + ", piece " + piece + ", " + rows
                    + " rows, " + skipped + " skipped");
        }
    }
}
