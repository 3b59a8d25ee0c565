package dev.stoker.schemas.protocol;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.protocol.parts.Fields;
import dev.stoker.schemas.protocol.parts.PieceSource;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Contains the 80 bytes before a piece's message, including the frame's first eight bytes.
 *
 * <pre>
 *  0 u32 length (message + 76)   4 u8 type 5     5 u8 flags (bit 0: repeated)   6 u16 0
 *  8 u64 feed tag               16 u64 fingerprint tag
 * 24 u32 epoch                  28 u32 lane     32 u64 virtual number
 * 40 u16 piece                  42 u16 pieces   44 u32 rows      48 u32 skipped
 * 52 u32 source rows            56 u64 view tag                  64 u32 source CRC-32C
 * 68 u32 subscription           72 u32 0        76 u32 CRC-32C of bytes [4, 68) and the message
 * </pre>
 *
 * @param identity the piece; the checksum covers it
 * @param source the rows that the piece was made from; the checksum covers them
 * @param subscription the subscription that requested it; not covered, because the same piece may be sent for several
 * @param messageBytes length of the message
 * @param crc the checksum of identity, source and message
 */
public record BatchHeader(BatchIdentity identity, PieceSource source, long subscription, int messageBytes, int crc) {
    public static final int BYTES = 80;

    /** First byte that the checksum covers, the byte after the last such byte, and the place of the checksum. */
    public static final int COVERED_FROM = Protocol.LENGTH_BYTES;

    public static final int COVERED_TO = COVERED_FROM + BatchIdentity.BYTES + PieceSource.BYTES;
    public static final int CRC_AT = BYTES - Integer.BYTES;

    /** Length limit of a message: its frame's length field must stay below 2^31. */
    public static final int MAX_MESSAGE = Protocol.MAX_BATCH - (BYTES - Protocol.LENGTH_BYTES);

    public static final int REPEATED = 1;

    public BatchHeader {
        Fields.u32("subscription", subscription);
        if (messageBytes < 0 || messageBytes > MAX_MESSAGE) {
            throw new IllegalArgumentException("a message of " + messageBytes + " bytes: expected 0 … " + MAX_MESSAGE
                    + "; choose a smaller batch size");
        }
    }

    /** Creates the header of a message with all columns, whose own CRC-32C is known. */
    public static BatchHeader of(BatchIdentity identity, long subscription, int messageBytes, int messageCrc) {
        return of(identity, PieceSource.whole(identity.rows(), messageCrc), subscription, messageBytes, messageCrc);
    }

    /** Creates the header of a message whose own CRC-32C is known. */
    public static BatchHeader of(
            BatchIdentity identity, PieceSource source, long subscription, int messageBytes, int messageCrc) {
        int crc = identity.crc(source, messageCrc, messageBytes);
        return new BatchHeader(identity, source, subscription, messageBytes, crc);
    }

    /** Writes the 80 bytes at the buffer's position, whatever its byte order, and moves the position. */
    public void put(ByteBuffer out) {
        ByteOrder before = out.order();
        out.order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(messageBytes + BYTES - Protocol.LENGTH_BYTES);
        identity.put(out);
        source.put(out);
        out.putInt((int) subscription).putInt(0).putInt(crc);
        out.order(before);
    }

    /** Computes the checksum of a received message under this header. It equals {@link #crc} if both are intact. */
    public int crcWith(ByteBuffer message) {
        return identity.crc(source, Crc32cs.of(message), message.remaining());
    }

    /** Reads the bytes after the frame's first eight. The buffer is little-endian. */
    public static BatchHeader read(int flags, ByteBuffer in) throws ProtocolException {
        long feedTag = in.getLong();
        long fingerprintTag = in.getLong();
        long epoch = Integer.toUnsignedLong(in.getInt());
        long lane = Integer.toUnsignedLong(in.getInt());
        long number = in.getLong();
        int piece = Short.toUnsignedInt(in.getShort());
        int pieces = Short.toUnsignedInt(in.getShort());
        long rows = Integer.toUnsignedLong(in.getInt());
        long skipped = Integer.toUnsignedLong(in.getInt());
        PieceSource source = PieceSource.read(in);
        long subscription = Integer.toUnsignedLong(in.getInt());
        int reserved = in.getInt();
        int crc = in.getInt();
        if (reserved != 0) {
            throw ProtocolException.badFrame("BATCH: reserved bytes are " + Integer.toHexString(reserved) + ", not 0");
        }
        BatchIdentity identity = new BatchIdentity(
                feedTag, fingerprintTag, epoch, lane, number, piece, pieces, rows, skipped, flags == REPEATED);
        return new BatchHeader(identity, source, subscription, in.remaining(), crc);
    }
}
