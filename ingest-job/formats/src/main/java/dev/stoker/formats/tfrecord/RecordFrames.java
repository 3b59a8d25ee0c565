package dev.stoker.formats.tfrecord;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.input.ByteInput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Moves over the records of a TFRecord file and verifies their checksums. A record is framed as follows, all numbers
 * little-endian. Not thread-safe.
 *
 * <table>
 * <caption>Layout</caption>
 * <tr><td>0</td><td>length of the data, uint64</td></tr>
 * <tr><td>8</td><td>masked CRC-32C of the length, uint32</td></tr>
 * <tr><td>12</td><td>data</td></tr>
 * <tr><td>12 + length</td><td>masked CRC-32C of the data, uint32</td></tr>
 * </table>
 */
final class RecordFrames {
    static final int HEADER = 12;
    private static final int LENGTH = 8;
    private static final int FOOTER = 4;
    private static final int MASK_DELTA = 0xa282ead8;
    private static final int KEEP = 1 << 24;

    private final ByteInput in;
    private final ReadLimits limits;
    private final byte[] header = new byte[HEADER];
    private byte[] reuse = new byte[1 << 12];
    private long offset;
    /** Whether the record was read to its end, so that the next one can be found. */
    private boolean whole;

    RecordFrames(ByteInput in, ReadLimits limits) {
        this.in = in;
        this.limits = limits;
    }

    /** Returns the checksum as a frame stores it. */
    static int masked(CRC32C crc) {
        return Integer.rotateRight((int) crc.getValue(), 15) + MASK_DELTA;
    }

    /** Returns whether a file with these first bytes begins with a frame. */
    static boolean isFrame(ByteBuffer first) {
        return first.remaining() >= HEADER && isSound(first.duplicate().order(ByteOrder.LITTLE_ENDIAN), LENGTH);
    }

    /** Returns whether the checksum behind a number of bytes is theirs. */
    private static boolean isSound(ByteBuffer bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.duplicate().limit(bytes.position() + length));
        return bytes.getInt(bytes.position() + length) == masked(crc);
    }

    /** Returns the data of the next record, valid until the one after it, or null at the end. Little-endian. */
    @SuppressWarnings("ByteBufferBackingArray") // The input fills whole arrays.
    @Nullable
    ByteBuffer next() throws IOException {
        whole = false;
        offset = in.position();
        int read = in.read(header, 0, HEADER);
        if (read == 0) {
            return null;
        }
        ByteBuffer head = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
        if (read < HEADER) {
            throw damaged("the file ends in its header");
        }
        if (!isSound(head, LENGTH)) {
            throw damaged("the checksum of its length is wrong");
        }
        long length = head.getLong(0);
        if (length < 0
                || length > Math.min(Math.min(limits.valueBytes(), limits.memoryBytes()), Integer.MAX_VALUE - 64)) {
            throw new UnsupportedFileException(in.name() + ": the record at offset " + offset + " needs "
                    + Long.toUnsignedString(length) + " bytes of memory; a record may have "
                    + Math.min(limits.valueBytes(), limits.memoryBytes()));
        }
        ByteBuffer data = in.read(length + FOOTER, "the record", reuse);
        reuse = data.array().length <= KEEP ? data.array() : reuse;
        whole = true;
        if (!isSound(data, (int) length)) {
            throw damaged("the checksum of its data is wrong");
        }
        return data.limit((int) length);
    }

    long offset() {
        return offset;
    }

    /** Returns whether {@link #next} can continue behind a damaged record. */
    boolean isWhole() {
        return whole;
    }

    DamagedFileException damaged(String reason) {
        return new DamagedFileException(in.name() + ": the TFRecord record at offset " + offset + " is damaged: "
                + reason + "; restore the file from a copy");
    }

    UnsupportedFileException unsupported(String reason) {
        return new UnsupportedFileException(in.name() + ": the TFRecord record at offset " + offset + " " + reason);
    }
}
