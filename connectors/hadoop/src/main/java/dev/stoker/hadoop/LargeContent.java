package dev.stoker.hadoop;

import dev.stoker.metadata.samples.CheckedPayload;
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
    private final CheckedPayload value;
    /** Null until the sample is verified. Guarded by this object, as all below. */
    private int @Nullable [] checksums;

    private @Nullable ByteBuffer block;
    private int blockNumber;

    LargeContent(ChunkReads reads, int chunk, CheckedPayload value) {
        this.reads = reads;
        this.chunk = chunk;
        this.value = value;
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
            expected = checksums();
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
                throw value.damaged(expected[number], crc);
            }
        }
        block = bytes;
        blockNumber = number;
        return bytes;
    }

    /** Reads the whole sample, and once more if it is damaged. Returns the checksums of its blocks. */
    private int[] checksums() throws IOException {
        int[] found = new int[(value.length() - 1) / BLOCK_BYTES + 1];
        if (!value.isOf(checksum(found))) {
            value.require(checksum(found));
        }
        return found;
    }

    private int checksum(int[] blocks) throws IOException {
        ConcatCrc whole = new ConcatCrc();
        for (int i = 0; i < blocks.length; i++) {
            ByteBuffer bytes = readBlock(i);
            blocks[i] = Crc32cs.of(bytes);
            whole.add(blocks[i], bytes.limit());
        }
        return whole.value();
    }

    private ByteBuffer readBlock(int number) throws IOException {
        long from = (long) number * BLOCK_BYTES;
        ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(BLOCK_BYTES, value.length() - from));
        reads.readPart(chunk, value.position() + from, bytes);
        return bytes.flip();
    }
}
