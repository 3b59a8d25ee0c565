package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.ArrowFooter;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Reads the outlines of chunks with two ranged reads each: the end of the file, and the head. How much of the end must
 * be read is learned from the chunks before, which have the same fields; a third read is needed if it is more than of
 * all chunks before. Thread-safe.
 */
public final class OutlineReader {

    /** For the first chunk. The end of a chunk with some fields has about 2 KiB. */
    private static final int FIRST_TAIL = 8 << 10;
    /** The lengths of ends differ by some digits and by the names of splits. */
    private static final int SLACK = 64;

    private final AtomicInteger greatest = new AtomicInteger();

    /**
     * Reads the outline of a chunk. Head and footer are intact if the call succeeds; the payload is not read.
     *
     * @throws dev.stoker.schemas.errors.StokerException if the file is not an intact chunk
     */
    public ChunkOutline read(RangeReader file) throws IOException {
        long length = file.length();
        ChunkReader.checkLength(file.name(), length);
        int known = greatest.get();
        int guess = (int) Math.min(length, known == 0 ? FIRST_TAIL : known + SLACK);
        ByteBuffer ending = ChunkReader.read(file, length - guess, guess);
        int tailLength = ArrowFooter.tailLength(ending, length, file.name());
        greatest.accumulateAndGet(tailLength, Math::max);
        ByteBuffer tail;
        if (tailLength <= guess) {
            tail = ending.slice(guess - tailLength, tailLength);
        } else {
            tail = ByteBuffer.allocate(tailLength);
            file.readFully(length - tailLength, tail.limit(tailLength - guess));
            tail.limit(tailLength);
            tail.put(ending).flip();
        }
        ChunkReader.Opened opened = ChunkReader.open(file, tail);
        ChunkReader.checkMagic(file.name(), opened.headBytes());
        return ChunkOutline.of(opened);
    }
}
