package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.crc.ConcatCrc;
import java.nio.ByteBuffer;

/**
 * Describes a chunk by its own head and footer, without its payload. Immutable.
 *
 * @param summary the values for the log, which the head determines
 * @param head the verified head
 * @param headBytes its bytes from index 0 to the limit; not to be changed
 * @param tailLength length of the bytes after the body
 */
public record ChunkOutline(ChunkSummary summary, ChunkHead head, ByteBuffer headBytes, int tailLength) {

    static ChunkOutline of(ChunkReader.Opened opened) {
        return new ChunkOutline(
                summary(opened),
                opened.head(),
                opened.headBytes(),
                opened.tail().limit());
    }

    /**
     * Computes the values for the log. The checksums of the rows cover the payload without gaps, and the rest of the
     * file is the head, zeros and the tail, so the checksum of the file follows from theirs.
     */
    private static ChunkSummary summary(ChunkReader.Opened opened) {
        ChunkHead head = opened.head();
        ConcatCrc sum = new ConcatCrc();
        sum.add(opened.headCrc32c(), head.length());
        long largestRow = 0;
        for (int row = 0; row < head.rows(); row++) {
            largestRow = Math.max(largestRow, head.rowBytes(row));
        }
        for (int f : head.payloadFields()) {
            ArrowColumn column = head.column(f);
            sum.addZeros(Math.toIntExact(column.valuesPosition() - sum.length()));
            for (int row = 0; row < head.rows(); row++) {
                sum.add(head.payloadCrc32c(f, row), column.valueLength(row));
            }
        }
        sum.addZeros(Math.toIntExact(head.arrow().bodyPosition() + head.arrow().bodyLength() - sum.length()));
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
}
