package dev.stoker.schemas.crc;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Computes checksum and length of a concatenation, part by part. A part is given as bytes, as zeros, or only as its
 * checksum and length. Not thread-safe. Can be reused after {@link #reset}.
 */
public final class ConcatCrc {
    private static final byte[] ZEROS = new byte[64];

    private final CRC32C direct = new CRC32C();
    private int crc;
    private long length;

    /** Resets to the empty concatenation. */
    public void reset() {
        crc = 0;
        length = 0;
    }

    /** Adds a part whose checksum and length are known. */
    public void add(int partCrc, long partLength) {
        crc = length == 0 ? partCrc : Crc32cs.combine(crc, partCrc, partLength);
        length += partLength;
    }

    /** Adds the bytes between position and limit. Does not change the buffer. */
    public void add(ByteBuffer bytes) {
        direct.reset();
        direct.update(bytes.duplicate());
        add((int) direct.getValue(), bytes.remaining());
    }

    /** Adds zero bytes. */
    public void addZeros(int count) {
        for (int left = count; left > 0; left -= ZEROS.length) {
            int part = Math.min(left, ZEROS.length);
            direct.reset();
            direct.update(ZEROS, 0, part);
            add((int) direct.getValue(), part);
        }
    }

    /** Returns the checksum of all parts so far; 0 if there are none. */
    public int value() {
        return crc;
    }

    /** Returns the length of all parts so far in bytes. */
    public long length() {
        return length;
    }
}
