package dev.stoker.schemas.order;

import dev.stoker.schemas.chunk.ChunkOverlay;
import org.jspecify.annotations.Nullable;

/**
 * Contains the values of the commit log against which a reader checks a chunk.
 *
 * @param lengthBytes length of the file, below 2^31; counts towards the shuffle window
 * @param crc32c CRC-32C of the file
 * @param headLengthBytes length of the head
 * @param headCrc32c CRC-32C of the head
 * @param largestRowBytes upper bound of a row's bytes in a batch
 * @param overlay the chunk's overlay, or null
 */
public record ExpectedChunk(
        long lengthBytes,
        int crc32c,
        long headLengthBytes,
        int headCrc32c,
        long largestRowBytes,
        @Nullable ChunkOverlay overlay) {

    /** Describes a chunk without an overlay. */
    public ExpectedChunk(long lengthBytes, int crc32c, long headLengthBytes, int headCrc32c, long largestRowBytes) {
        this(lengthBytes, crc32c, headLengthBytes, headCrc32c, largestRowBytes, null);
    }

    public ExpectedChunk {
        if (lengthBytes < 0 || lengthBytes > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("chunk length " + lengthBytes + ": expected 0 … 2^31-1");
        }
        if (headLengthBytes < 0 || headLengthBytes > lengthBytes) {
            throw new IllegalArgumentException(
                    "head length " + headLengthBytes + " in a chunk of " + lengthBytes + " bytes");
        }
        if (largestRowBytes < 0) {
            throw new IllegalArgumentException("largest row " + largestRowBytes);
        }
    }
}
