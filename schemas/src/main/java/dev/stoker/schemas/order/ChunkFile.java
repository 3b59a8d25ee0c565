package dev.stoker.schemas.order;

/**
 * What a reader of a chunk checks it against, as the commit log recorded it.
 *
 * @param lengthBytes length of the file, below 2^31; counts towards the shuffle window
 * @param crc32c CRC-32C of the file, 0 … 2^32-1
 * @param headLengthBytes length of the head
 * @param headCrc32c CRC-32C of the head, 0 … 2^32-1
 * @param largestRowBytes upper bound of a row's bytes in a batch
 */
public record ChunkFile(long lengthBytes, long crc32c, long headLengthBytes, long headCrc32c, long largestRowBytes) {
    public ChunkFile {
        if (lengthBytes < 0 || lengthBytes > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("chunk length " + lengthBytes + ": expected 0 … 2^31-1");
        }
        if (headLengthBytes < 0 || headLengthBytes > lengthBytes) {
            throw new IllegalArgumentException(
                    "head length " + headLengthBytes + " in a chunk of " + lengthBytes + " bytes");
        }
        if (crc32c >>> 32 != 0 || headCrc32c >>> 32 != 0) {
            throw new IllegalArgumentException("a CRC-32C has 32 bits: file " + crc32c + ", head " + headCrc32c);
        }
        if (largestRowBytes < 0) {
            throw new IllegalArgumentException("largest row " + largestRowBytes);
        }
    }
}
