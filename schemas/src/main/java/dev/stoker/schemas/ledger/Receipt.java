package dev.stoker.schemas.ledger;

/**
 * Records one acknowledged piece of a batch.
 *
 * @param number virtual number of the batch
 * @param piece index within the delivered batch
 * @param repeated whether the piece repeats rows
 * @param rows number of rows in the piece
 * @param skipped number of rows that were left out as corrupt
 * @param crc32c checksum of the piece, as computed by the trainer
 * @param sourceRows number of rows of chunk files that the piece was made from
 * @param sourceCrc32c checksum of the message that these rows make with all columns
 */
public record Receipt(
        long number, int piece, boolean repeated, int rows, int skipped, int crc32c, int sourceRows, int sourceCrc32c) {
    public Receipt {
        if (number < 0 || piece < 0 || rows < 0 || skipped < 0 || sourceRows < 0) {
            throw new IllegalArgumentException("Receipt for number " + number + ", piece " + piece + ", " + rows
                    + " rows, " + skipped + " skipped, made from " + sourceRows);
        }
    }
}
