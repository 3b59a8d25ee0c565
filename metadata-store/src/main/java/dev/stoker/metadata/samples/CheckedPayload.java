package dev.stoker.metadata.samples;

import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The value of a payload field of one sample: its place in the file of the chunk, and its checksum.
 *
 * @param head the head of the chunk
 * @param field the field
 * @param row the row in the chunk
 * @param chunk the chunk for messages, such as {@code chunk 7}
 */
public record CheckedPayload(ChunkHead head, int field, int row, String chunk) {

    /** Reads bytes of the file of the chunk. */
    public interface Source {

        /** Fills a buffer with bytes from a position of the file on, which are not checked. */
        void read(long position, ByteBuffer target) throws IOException;
    }

    /** Returns the position in the file of the chunk. */
    public int position() {
        return head.payloadPosition(field, row);
    }

    /** Returns the number of bytes. */
    public int length() {
        return head.payloadLength(field, row);
    }

    /** Returns whether bytes are the value. */
    public boolean is(ByteBuffer bytes) {
        return isOf(Crc32cs.of(bytes.slice()));
    }

    /** Returns whether the value has a checksum. */
    public boolean isOf(int crc32c) {
        return crc32c == head.payloadCrc32c(field, row);
    }

    /**
     * Fills a buffer with the value, and compares it with its checksum. Bytes can be damaged on their way, so a second
     * read decides.
     *
     * @param target with room for exactly the value; its position does not change
     * @param again called before the second read, to drop copies of the bytes
     * @throws CorruptDataException if the value is damaged
     */
    public void read(ByteBuffer target, Source source, Runnable again) throws IOException {
        read(source, target);
        if (!is(target)) {
            again.run();
            read(source, target);
            require(Crc32cs.of(target.slice()));
        }
    }

    private void read(Source source, ByteBuffer target) throws IOException {
        if (target.hasRemaining()) {
            source.read(position(), target.slice());
        }
    }

    /** Throws an exception if the checksum of all bytes is not that of the value. */
    public void require(int crc32c) throws CorruptDataException {
        if (!isOf(crc32c)) {
            throw damaged(head.payloadCrc32c(field, row), crc32c);
        }
    }

    /** Returns the error for a checksum that is wrong, of the value or of a part of it. */
    public CorruptDataException damaged(int expected, int found) {
        return CorruptDataException.mismatch(
                head.file(),
                "CRC32C of " + head.fields().get(field).name() + " of sample '" + head.key(row) + "' in row " + row
                        + " of " + chunk,
                Crc32cs.hex(expected),
                Crc32cs.hex(found));
    }
}
