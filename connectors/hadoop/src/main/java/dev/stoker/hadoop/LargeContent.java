package dev.stoker.hadoop;

import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.crc.ConcatCrc;
import dev.stoker.schemas.crc.Crc32cs;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The contents of a sample that is too large for the memory. The first read verifies the whole sample and keeps the
 * checksum of each block. Later reads read single blocks again and compare them, so no byte is returned that was not
 * verified. Thread-safe; one thread reads at a time.
 */
final class LargeContent implements SampleContent {

    static final int BLOCK_BYTES = 4 << 20;

    private final ChunkReads reads;
    private final int chunk;
    private final ChunkHead head;
    private final int field;
    private final int row;
    /** Null until the sample is verified. Guarded by this object, as all below. */
    private int @Nullable [] checksums;

    private @Nullable ByteBuffer block;
    private int blockNumber;

    LargeContent(ChunkReads reads, int chunk, ChunkHead head, int field, int row) {
        this.reads = reads;
        this.chunk = chunk;
        this.head = head;
        this.field = field;
        this.row = row;
    }

    @Override
    public synchronized int read(long position, byte[] target, int offset, int length) throws IOException {
        int number = (int) (position / BLOCK_BYTES);
        ByteBuffer bytes = block(number);
        int from = (int) (position % BLOCK_BYTES);
        int count = Math.min(length, bytes.limit() - from);
        bytes.get(from, target, offset, count);
        return count;
    }

    private ByteBuffer block(int number) throws IOException {
        int[] expected = checksums;
        if (expected == null) {
            expected = verify();
            checksums = expected;
        }
        if (block != null && blockNumber == number) {
            return block;
        }
        ByteBuffer bytes = readBlock(number);
        if (Crc32cs.of(bytes) != expected[number]) {
            // Bytes can be damaged on their way. The second read decides.
            bytes = readBlock(number);
            int crc = Crc32cs.of(bytes);
            if (crc != expected[number]) {
                throw reads.mismatch(chunk, head, row, expected[number], crc);
            }
        }
        block = bytes;
        blockNumber = number;
        return bytes;
    }

    private int[] verify() throws IOException {
        int length = head.payloadLength(field, row);
        int[] found = new int[(length - 1) / BLOCK_BYTES + 1];
        ConcatCrc whole = new ConcatCrc();
        for (int i = 0; i < found.length; i++) {
            ByteBuffer bytes = readBlock(i);
            found[i] = Crc32cs.of(bytes);
            whole.add(found[i], bytes.limit());
        }
        if (whole.value() != head.payloadCrc32c(field, row)) {
            throw reads.mismatch(chunk, head, row, head.payloadCrc32c(field, row), whole.value());
        }
        return found;
    }

    private ByteBuffer readBlock(int number) throws IOException {
        long from = (long) number * BLOCK_BYTES;
        int length = (int) Math.min(BLOCK_BYTES, head.payloadLength(field, row) - from);
        return reads.readPart(chunk, head.payloadPosition(field, row) + from, length);
    }
}
