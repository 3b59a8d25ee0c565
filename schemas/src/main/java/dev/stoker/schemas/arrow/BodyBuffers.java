package dev.stoker.schemas.arrow;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * Everything that a record batch message of finished columns is made of.
 *
 * @param buffers in metadata order
 * @param nodeLengths per node
 * @param nullCounts per node
 */
record BodyBuffers(ByteBuffer[] buffers, long[] nodeLengths, long[] nullCounts) {
    static BodyBuffers of(RecordBatchLayout layout, List<ColumnBuilder> columns) {
        ByteBuffer[] buffers = new ByteBuffer[layout.buffers()];
        long[] nodeLengths = new long[layout.nodes()];
        long[] nullCounts = new long[layout.nodes()];
        for (int c = 0; c < columns.size(); c++) {
            ColumnBuilder column = columns.get(c);
            ByteBuffer[] own = column.buffers();
            System.arraycopy(own, 0, buffers, layout.validityBuffer(c), own.length);
            int node = layout.firstNode(c);
            nodeLengths[node] = column.rows();
            nullCounts[node] = column.nullCount();
            if (RecordBatchLayout.nodeCount(column.field().type()) == 2) {
                nodeLengths[node + 1] = column.childRows();
            }
        }
        return new BodyBuffers(buffers, nodeLengths, nullCounts);
    }

    long[] lengths() {
        long[] lengths = new long[buffers.length];
        for (int b = 0; b < lengths.length; b++) {
            lengths[b] = buffers[b].remaining();
        }
        return lengths;
    }

    /** Writes the whole message at the buffer's position. */
    void write(ByteBuffer out, RecordBatchLayout layout, long rows) {
        long[] lengths = lengths();
        long[] offsets = new long[lengths.length];
        layout.place(lengths, offsets);
        layout.writeHead(out, rows, nodeLengths, nullCounts, offsets, lengths);
        int body = out.position();
        for (int b = 0; b < lengths.length; b++) {
            out.put(body + (int) offsets[b], buffers[b], buffers[b].position(), (int) lengths[b]);
        }
        out.position(body + (int) layout.bodyLength(lengths));
    }
}
