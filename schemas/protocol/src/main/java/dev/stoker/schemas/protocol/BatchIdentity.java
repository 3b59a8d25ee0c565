package dev.stoker.schemas.protocol;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.protocol.parts.Fields;
import dev.stoker.schemas.protocol.parts.PieceSource;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Identifies a piece, in bytes [4, 52) of a BATCH header. The checksum covers them.
 *
 * @param feedTag first 8 bytes of the feed id, read as a big-endian number
 * @param fingerprintTag first 16 hexadecimal digits of the fingerprint, read as a number
 * @param epoch the epoch
 * @param lane the lane
 * @param number the virtual number
 * @param piece index within the delivered batch
 * @param pieces number of pieces of the whole delivered batch, over all lanes
 * @param rows number of rows in the message
 * @param skipped number of rows that were left out because they were damaged
 * @param repeated whether the rows are also delivered elsewhere in the epoch
 */
public record BatchIdentity(
        long feedTag,
        long fingerprintTag,
        long epoch,
        long lane,
        long number,
        int piece,
        int pieces,
        long rows,
        long skipped,
        boolean repeated) {
    /** Number of bytes of the identity in a header, from byte 4 on. */
    static final int BYTES = 48;

    public BatchIdentity {
        Fields.u32("epoch", epoch);
        Fields.u32("lane", lane);
        Fields.natural("number", number);
        Fields.u16("piece", piece);
        Fields.u16("pieces", pieces);
        Fields.u32("rows", rows);
        Fields.u32("skipped", skipped);
        if (piece >= pieces) {
            throw new IllegalArgumentException("piece " + piece + " of " + pieces);
        }
    }

    /**
     * Returns the checksum of the piece, computed from the checksum of its message.
     *
     * @param source the rows that the piece was made from
     * @param messageCrc CRC-32C of the message alone
     * @param messageBytes its length
     */
    public int crc(PieceSource source, int messageCrc, int messageBytes) {
        byte[] covered = new byte[BYTES + PieceSource.BYTES];
        ByteBuffer out = ByteBuffer.wrap(covered).order(ByteOrder.LITTLE_ENDIAN);
        put(out);
        source.put(out);
        return Crc32cs.combine(Crc32cs.of(covered), messageCrc, messageBytes);
    }

    /** Writes the 48 bytes to a little-endian buffer. */
    void put(ByteBuffer out) {
        out.put((byte) FrameType.BATCH.code()).put((byte) (repeated ? BatchHeader.REPEATED : 0));
        out.putShort((short) 0);
        out.putLong(feedTag).putLong(fingerprintTag);
        out.putInt((int) epoch).putInt((int) lane).putLong(number);
        out.putShort((short) piece).putShort((short) pieces);
        out.putInt((int) rows).putInt((int) skipped);
    }
}
