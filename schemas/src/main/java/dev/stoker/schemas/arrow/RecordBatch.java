package dev.stoker.schemas.arrow;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.StokerException;
import java.nio.ByteBuffer;
import org.apache.arrow.flatbuf.MessageHeader;

/**
 * Contains the checked metadata of a record batch message: every buffer is within the body.
 *
 * @param headLength bytes of prefix, flatbuffer and padding
 * @param bodyLength bytes of the body
 * @param rows rows of the batch
 * @param nodeLengths length of each field node
 * @param nullCounts null count of each field node
 * @param offsets offset of each buffer in the body
 * @param lengths length of each buffer
 */
record RecordBatch(
        int headLength,
        long bodyLength,
        int rows,
        long[] nodeLengths,
        long[] nullCounts,
        long[] offsets,
        long[] lengths) {

    /**
     * Reads prefix and flatbuffer from a buffer's position on.
     *
     * @param bytes little-endian; may end before the body does
     * @param layout layout of the schema's columns
     * @param bodyLimit bytes of the file from the message's start on, including the head
     */
    static RecordBatch read(ByteBuffer bytes, RecordBatchLayout layout, long bodyLimit, String file)
            throws StokerException {
        ByteBuffer flatbuffer = Message.flatbuffer(bytes, file, "record batch message");
        int headLength = RecordBatchLayout.PREFIX + flatbuffer.remaining();
        FlatReader in = new FlatReader(flatbuffer, file, "record batch message");
        int message = in.root();
        int batch = Message.header(in, message, MessageHeader.RecordBatch, "a record batch", file);
        return read(in, message, batch, layout, headLength, bodyLimit, file);
    }

    /**
     * Reads the tables of a message.
     *
     * @param message position of the Message table
     * @param batch position of the RecordBatch table
     */
    static RecordBatch read(
            FlatReader in,
            int message,
            int batch,
            RecordBatchLayout layout,
            int headLength,
            long bodyLimit,
            String file)
            throws StokerException {
        long bodyLength = in.i64Field(message, 3);
        if (bodyLength < 0 || bodyLength > bodyLimit - headLength) {
            throw in.corrupt("a body of " + bodyLength + " bytes; there is room for " + (bodyLimit - headLength));
        }
        if (in.reference(batch, 3) != 0) {
            throw new ForeignFileException(file, "an Arrow file as Stoker writes it", "its buffers are compressed");
        }
        long rows = in.i64Field(batch, 0);
        if (rows < 0 || rows > Integer.MAX_VALUE) {
            throw in.corrupt(rows + " rows");
        }
        int nodes = in.reference(batch, 1);
        int buffers = in.reference(batch, 2);
        expect(in, "field nodes", layout.nodes(), in.vectorLength(nodes, 16));
        expect(in, "buffers", layout.buffers(), in.vectorLength(buffers, 16));
        long[] nodeLengths = longs(in, nodes, layout.nodes(), 0);
        long[] nullCounts = longs(in, nodes, layout.nodes(), 8);
        long[] offsets = longs(in, buffers, layout.buffers(), 0);
        long[] lengths = longs(in, buffers, layout.buffers(), 8);
        for (int i = 0; i < nodeLengths.length; i++) {
            if (nodeLengths[i] < 0 || nullCounts[i] < 0 || nullCounts[i] > nodeLengths[i]) {
                throw in.corrupt("node " + i + " has " + nullCounts[i] + " nulls of " + nodeLengths[i]);
            }
        }
        for (int i = 0; i < offsets.length; i++) {
            if (offsets[i] < 0 || lengths[i] < 0 || lengths[i] > bodyLength || offsets[i] > bodyLength - lengths[i]) {
                throw in.corrupt("buffer " + i + " takes " + lengths[i] + " bytes from " + offsets[i] + " of a body of "
                        + bodyLength);
            }
        }
        return new RecordBatch(headLength, bodyLength, (int) rows, nodeLengths, nullCounts, offsets, lengths);
    }

    private static long[] longs(FlatReader in, int vector, int count, int shift) throws CorruptDataException {
        long[] values = new long[count];
        for (int i = 0; i < count; i++) {
            values[i] = in.i64(vector + 4 + 16 * i + shift);
        }
        return values;
    }

    private static void expect(FlatReader in, String what, int expected, int found) throws CorruptDataException {
        if (expected != found) {
            throw in.corrupt(found + " " + what + " where the schema asks for " + expected);
        }
    }
}
