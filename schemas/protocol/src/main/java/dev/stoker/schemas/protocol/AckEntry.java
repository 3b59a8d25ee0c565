package dev.stoker.schemas.protocol;

import dev.stoker.schemas.protocol.parts.Fields;
import dev.stoker.schemas.protocol.parts.PieceSource;

/**
 * Describes a piece that the trainer has consumed.
 *
 * @param number the virtual number
 * @param piece the piece's index within the delivered batch
 * @param repeated whether the piece was flagged as repeating rows
 * @param crc the checksum, as received and verified
 * @param rows number of rows in the message
 * @param skipped number of rows that were left out of it
 * @param sourceRows number of rows that the piece was made from
 * @param sourceCrc the {@linkplain PieceSource#crc32c checksum} of these rows with all columns
 */
public record AckEntry(
        long number, int piece, boolean repeated, int crc, long rows, long skipped, long sourceRows, int sourceCrc) {
    public static final int BYTES = 32;

    public AckEntry {
        Fields.natural("number", number);
        Fields.u16("piece", piece);
        Fields.u32("rows", rows);
        Fields.u32("skipped", skipped);
        Fields.u32("source rows", sourceRows);
    }

    /** Creates the entry of a piece that arrived intact. */
    public static AckEntry of(BatchHeader header) {
        BatchIdentity identity = header.identity();
        return new AckEntry(
                identity.number(),
                identity.piece(),
                identity.repeated(),
                header.crc(),
                identity.rows(),
                identity.skipped(),
                header.source().rows(),
                header.source().crc32c());
    }
}
