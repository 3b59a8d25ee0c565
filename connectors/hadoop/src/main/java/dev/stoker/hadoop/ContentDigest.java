package dev.stoker.hadoop;

import dev.stoker.metadata.files.ContentField;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.crc.Crc32cs;

/**
 * The length and checksum of a file, which are known without reading the file.
 *
 * @param length number of bytes
 * @param crc32c their CRC-32C
 */
record ContentDigest(long length, int crc32c) {

    /** Returns the length and the checksum that the head of a chunk has. */
    static ContentDigest of(ContentField field, ChunkHead head, int row) {
        return field.isPayload()
                ? new ContentDigest(head.payloadLength(field.index(), row), head.payloadCrc32c(field.index(), row))
                : new ContentDigest(
                        head.column(field.index()).valueLength(row),
                        Crc32cs.of(head.column(field.index()).bytesAt(row)));
    }

    /** Returns a text that is equal for equal contents, and different for others. */
    String etag() {
        return Crc32cs.hex(crc32c) + "-" + length;
    }
}
