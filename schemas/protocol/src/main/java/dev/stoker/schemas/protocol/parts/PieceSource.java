package dev.stoker.schemas.protocol.parts;

import dev.stoker.schemas.batch.View;
import java.nio.ByteBuffer;

/**
 * Describes the rows of chunk files that a piece was made from, in bytes [52, 68) of a BATCH header, which the checksum
 * covers.
 *
 * @param rows number of rows that were read; with the skipped ones, those that the order assigns to the piece
 * @param viewTag identifies the columns that the piece has, see {@link View#tag}
 * @param crc32c CRC-32C of the message that these rows make with all columns
 */
public record PieceSource(long rows, long viewTag, int crc32c) {
    public static final int BYTES = 16;

    public PieceSource {
        Fields.u32("source rows", rows);
    }

    /** Describes a piece with all columns. */
    public static PieceSource whole(long rows, int messageCrc) {
        return new PieceSource(rows, View.WHOLE_TAG, messageCrc);
    }

    /** Writes the 16 bytes to a little-endian buffer. */
    public void put(ByteBuffer out) {
        out.putInt((int) rows).putLong(viewTag).putInt(crc32c);
    }

    /** Reads the 16 bytes from a little-endian buffer. */
    public static PieceSource read(ByteBuffer in) {
        return new PieceSource(Integer.toUnsignedLong(in.getInt()), in.getLong(), in.getInt());
    }
}
