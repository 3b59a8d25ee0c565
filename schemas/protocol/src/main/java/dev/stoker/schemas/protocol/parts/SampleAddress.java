package dev.stoker.schemas.protocol.parts;

import java.nio.ByteBuffer;

/**
 * Where a sample is stored, and what is known about it without reading it.
 *
 * @param ordinal ordinal of its chunk
 * @param row its row in the chunk
 * @param length bytes of the values of all fields
 * @param crc32c CRC-32C of the payload values, one after the other
 */
public record SampleAddress(long ordinal, long row, long length, int crc32c) {
    /** The place of a sample that is unknown, or that does not exist. */
    public static final SampleAddress NONE = new SampleAddress(0, 0, 0, 0);

    public SampleAddress {
        Fields.natural("ordinal", ordinal);
        Fields.u32("row", row);
        Fields.u32("length", length);
    }

    public void put(ByteBuffer out) {
        out.putLong(ordinal).putInt((int) row).putInt((int) length).putInt(crc32c);
    }

    public static SampleAddress read(ByteBuffer in) {
        return new SampleAddress(
                in.getLong(), Integer.toUnsignedLong(in.getInt()), Integer.toUnsignedLong(in.getInt()), in.getInt());
    }
}
