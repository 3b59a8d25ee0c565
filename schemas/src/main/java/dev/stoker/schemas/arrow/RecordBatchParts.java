package dev.stoker.schemas.arrow;

import dev.stoker.schemas.arrow.types.FieldType;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Collects the parts of a record batch message: finished columns, and payload columns whose values are stored
 * elsewhere. Not thread-safe.
 */
public final class RecordBatchParts {
    private final RecordBatchLayout layout;
    private final int rows;
    private final ByteBuffer[] buffers;
    private final long[] lengths;
    private final long[] nodeLengths;
    private final long[] nullCounts;

    /** Creates the parts of a message with {@code rows} rows. Each column must be set. */
    public RecordBatchParts(RecordBatchLayout layout, int rows) {
        this.layout = layout;
        this.rows = rows;
        this.buffers = new ByteBuffer[layout.buffers()];
        this.lengths = new long[layout.buffers()];
        this.nodeLengths = new long[layout.nodes()];
        this.nullCounts = new long[layout.nodes()];
    }

    /** Sets a column whose values are available. */
    public void set(int column, ColumnBuilder values) {
        ByteBuffer[] own = values.buffers();
        int first = layout.validityBuffer(column);
        for (int i = 0; i < own.length; i++) {
            buffers[first + i] = own[i];
            lengths[first + i] = own[i].remaining();
        }
        int node = layout.firstNode(column);
        nodeLengths[node] = values.rows();
        nullCounts[node] = values.nullCount();
        if (values.field().type().hasNullItems()) {
            nullCounts[node + 1] = values.nullItems();
        }
        int valueBytes = own[own.length - 1].remaining();
        layout.setChildren(column, values.field().type(), values.rows(), values.items(), valueBytes, nodeLengths);
    }

    /**
     * Sets a payload column.
     *
     * @param nulls its nulls
     * @param offsets its offsets buffer; null for a type without one
     * @param valueBytes bytes of its values
     */
    public void setPayload(int column, FieldType type, NullRows nulls, @Nullable ByteBuffer offsets, long valueBytes) {
        if (nulls.count() > 0) {
            ByteBuffer validity = nulls.validity(rows);
            buffers[layout.validityBuffer(column)] = validity;
            lengths[layout.validityBuffer(column)] = validity.remaining();
        }
        if (offsets != null) {
            buffers[layout.offsetsBuffer(column)] = offsets;
            lengths[layout.offsetsBuffer(column)] = offsets.remaining();
        }
        lengths[layout.valuesBuffer(column)] = valueBytes;
        int node = layout.firstNode(column);
        nodeLengths[node] = rows;
        nullCounts[node] = nulls.count();
        layout.setChildren(column, type, rows, 0, valueBytes, nodeLengths);
    }

    /** Returns the length of the body, including padding. */
    public long bodyLength() {
        return layout.bodyLength(lengths);
    }

    /** Returns the length of the message up to the first payload data buffer. */
    public long smallLength() {
        return layout.headLength() + layout.place(lengths, new long[lengths.length]);
    }

    /**
     * Returns the parts of a head that have their own checksums in a chunk's footer, in file order.
     *
     * @param opening the bytes of the file before the message
     */
    public List<HeadPart> headParts(ArrowHead.Opening opening) {
        long[] offsets = new long[lengths.length];
        layout.place(lengths, offsets);
        ArrowFooter.Block batch =
                new ArrowFooter.Block(opening.bytes().length, layout.headLength(), layout.bodyLength(lengths));
        return HeadPart.of(opening.dictionaries(), batch, layout, offsets, lengths);
    }

    /**
     * Writes the message up to the first payload data buffer (all of it if there is none) at the buffer's position. The
     * buffer must be little-endian.
     */
    public void writeSmall(ByteBuffer out) {
        long[] offsets = new long[lengths.length];
        int small = (int) layout.place(lengths, offsets);
        layout.writeHead(out, rows, nodeLengths, nullCounts, offsets, lengths);
        int body = out.position();
        for (int b = 0; b < lengths.length; b++) {
            if (buffers[b] != null) {
                out.put(body + (int) offsets[b], buffers[b], buffers[b].position(), (int) lengths[b]);
                long end = offsets[b] + lengths[b];
                for (long pad = end; pad < RecordBatchLayout.align(end); pad++) {
                    out.put(body + (int) pad, (byte) 0);
                }
            }
        }
        out.position(body + small);
    }
}
