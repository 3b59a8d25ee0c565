package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.crc.ConcatCrc;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** Reads all payload of a chunk once, front to back, in bounded memory. Not thread-safe. */
final class ChunkVerification {
    private static final int BUFFER = 1 << 20;

    private final RangeReader file;
    private final ChunkReader.Opened opened;
    private final ChunkHead head;
    private final ByteBuffer buffer;
    private final ConcatCrc sum = new ConcatCrc();
    private long position;

    ChunkVerification(RangeReader file, ChunkReader.Opened opened) throws IOException {
        this.file = file;
        this.opened = opened;
        this.head = opened.head();
        this.position = head.length();
        this.buffer =
                ByteBuffer.allocateDirect((int) Math.min(BUFFER, file.length())).limit(0);
    }

    ChunkSummary run() throws IOException {
        sum.add(opened.headCrc32c(), head.length());
        long largestRow = 0;
        for (int row = 0; row < head.rows(); row++) {
            largestRow = Math.max(largestRow, head.rowBytes(row));
        }
        for (int f : head.payloadFields()) {
            ArrowColumn column = head.column(f);
            zerosUpTo(column.valuesPosition());
            for (int row = 0; row < head.rows(); row++) {
                int length = column.valueLength(row);
                int found = crc(length);
                check(head, f, row, found);
                sum.add(found, length);
            }
        }
        zerosUpTo(head.arrow().bodyPosition() + head.arrow().bodyLength());
        sum.add(opened.tail());
        ChunkIdentity identity = head.identity();
        return new ChunkSummary(
                identity.chunk(),
                identity.split(),
                head.rows(),
                sum.length(),
                sum.value(),
                head.length(),
                opened.headCrc32c(),
                largestRow);
    }

    static void checkSample(ChunkHead head, RangeReader file, int row) throws IOException {
        ByteBuffer piece = null;
        for (int f : head.payloadFields()) {
            int length = head.payloadLength(f, row);
            long at = head.payloadPosition(f, row);
            if (piece == null || piece.capacity() < Math.min(length, BUFFER)) {
                piece = ByteBuffer.allocate(Math.min(length, BUFFER));
            }
            CRC32C crc = new CRC32C();
            for (int left = length; left > 0; left -= piece.limit()) {
                piece.clear().limit(Math.min(left, piece.capacity()));
                file.readFully(at, piece);
                crc.update(piece.flip());
                at += piece.limit();
            }
            check(head, f, row, (int) crc.getValue());
        }
    }

    private static void check(ChunkHead head, int field, int row, int found) throws CorruptDataException {
        int expected = head.payloadCrc32c(field, row);
        if (found != expected) {
            throw CorruptDataException.mismatch(
                    head.file(),
                    "CRC32C of field " + head.fields().get(field).name() + " of row " + row + ", key '" + head.key(row)
                            + "', chunk " + head.identity().chunk(),
                    Crc32cs.hex(expected),
                    Crc32cs.hex(found));
        }
    }

    /** Computes the checksum of the next bytes. */
    private int crc(int length) throws IOException {
        CRC32C crc = new CRC32C();
        for (int left = length; left > 0; ) {
            fill();
            int part = Math.min(left, buffer.remaining());
            crc.update(buffer.slice(buffer.position(), part));
            buffer.position(buffer.position() + part);
            position += part;
            left -= part;
        }
        return (int) crc.getValue();
    }

    private void zerosUpTo(long end) throws IOException {
        while (position < end) {
            fill();
            if (buffer.get() != 0) {
                throw CorruptDataException.mismatch(file.name(), "padding byte at " + position, "0", "another");
            }
            position++;
            sum.addZeros(1);
        }
    }

    private void fill() throws IOException {
        if (!buffer.hasRemaining()) {
            buffer.clear();
            buffer.limit((int)
                    Math.min(buffer.capacity(), file.length() - opened.tail().limit() - position));
            file.readFully(position, buffer);
            buffer.flip();
        }
    }
}
