package dev.stoker.schemas.protocol;

/**
 * Describes a piece that the trainer has consumed.
 *
 * @param number the virtual number
 * @param piece the piece's index within the delivered batch
 * @param repeated whether the piece was flagged as repeating rows
 * @param crc the checksum, as received and verified
 * @param rows number of rows in the message
 * @param skipped number of rows that were left out of it
 */
public record AckEntry(long number, int piece, boolean repeated, int crc, long rows, long skipped) {
    static final int BYTES = 24;

    public AckEntry {
        Fields.natural("number", number);
        Fields.u16("piece", piece);
        Fields.u32("rows", rows);
        Fields.u32("skipped", skipped);
    }
}
