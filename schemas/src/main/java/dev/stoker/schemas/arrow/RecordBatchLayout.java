package dev.stoker.schemas.arrow;

import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.TensorType;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Computes the canonical layout of record batch messages with given columns. Immutable and thread-safe.
 *
 * <pre>
 * FF FF FF FF | i32 metadata length | flatbuffer (fixed offsets, below) | zeros to a multiple of 64 | body
 * body: all buffers but payload data in metadata order, then payload data in column order,
 *       each non-empty one at a multiple of 64 and zero-padded to one
 * </pre>
 *
 * With n nodes and b buffers, the flatbuffer is, relative to its start:
 *
 * <pre>
 *   0 u32 24                  root: Message table
 *   8 u16 12,24,16,18,4,8     Message vtable
 *  24 i32 16, u32 36, i64 body length, i16 4 (V5), u8 3 (RecordBatch), 5 zeros
 *  48 u16 10,24,8,4,16        RecordBatch vtable
 *  64 i32 16, u32 24, i64 rows, u32 20+16n, 8 zeros
 *  92 u32 n, n × (i64 length, i64 null count)
 *  96+16n u32 0, u32 b, b × (i64 offset, i64 length)
 * </pre>
 *
 * A dictionary batch has a DictionaryBatch table between the Message and the RecordBatch table. From 48 on, the bytes
 * above follow it unchanged:
 *
 * <pre>
 *  42 u8 2                    DictionaryBatch in place of RecordBatch
 *  48 u16 8,16,8,4            DictionaryBatch vtable
 *  56 i64 0
 *  64 i32 16, u32 28, i64 id
 *  80 …                       as from 48 on
 * </pre>
 */
public final class RecordBatchLayout {
    /** Alignment of messages, buffers and lengths. */
    public static final int ALIGNMENT = 64;

    /** Bytes of continuation marker and metadata length. */
    static final int PREFIX = 8;

    private static final int NODES = 96;
    private static final int DICTIONARY_TABLE = 32;
    private static final byte DICTIONARY_BATCH = 2;
    private static final byte RECORD_BATCH = 3;
    private static final int NODE_SIZE = 16;
    private static final int BUFFER_SIZE = 16;

    private final int[] firstNode;
    private final int[] firstBuffer;
    private final boolean[] payloadBuffer;

    private RecordBatchLayout(int[] firstNode, int[] firstBuffer, boolean[] payloadBuffer) {
        this.firstNode = firstNode;
        this.firstBuffer = firstBuffer;
        this.payloadBuffer = payloadBuffer;
    }

    /**
     * Returns the layout of these columns.
     *
     * @param types types of the columns
     * @param payload which columns are payload: their values are last
     */
    public static RecordBatchLayout of(List<? extends FieldType> types, boolean[] payload) {
        int columns = types.size();
        int[] nodes = new int[columns + 1];
        int[] buffers = new int[columns + 1];
        for (int c = 0; c < columns; c++) {
            nodes[c + 1] = nodes[c] + nodeCount(types.get(c));
            buffers[c + 1] = buffers[c] + bufferCount(types.get(c));
        }
        boolean[] last = new boolean[buffers[columns]];
        for (int c = 0; c < columns; c++) {
            last[buffers[c + 1] - 1] = payload[c];
        }
        return new RecordBatchLayout(nodes, buffers, last);
    }

    static int nodeCount(FieldType type) {
        return switch (type.layout()) {
            case BITS, FIXED, BYTES -> 1;
            case LIST, TENSOR -> 2;
            case NESTED -> 1 + nodeCount(((ListType) type).item());
        };
    }

    /** Returns whether the last node of a column counts the elements of lists or tensors. */
    static boolean hasElements(FieldType type) {
        return type.layout() == FieldType.Layout.LIST
                || type.layout() == FieldType.Layout.TENSOR
                || (type instanceof ListType list && list.isOfLists());
    }

    static int bufferCount(FieldType type) {
        return switch (type.layout()) {
            case BITS, FIXED -> 2;
            case BYTES, TENSOR -> 3;
            case LIST -> 4;
            case NESTED -> 2 + bufferCount(((ListType) type).item());
        };
    }

    /** Returns the number of columns. */
    public int columns() {
        return firstNode.length - 1;
    }

    /** Returns the number of field nodes. */
    public int nodes() {
        return firstNode[columns()];
    }

    /** Returns the number of buffers. */
    public int buffers() {
        return payloadBuffer.length;
    }

    /** Returns the index of a column's first node. The node of its child, if any, follows it. */
    public int firstNode(int column) {
        return firstNode[column];
    }

    /** Returns the index of a column's validity buffer. */
    public int validityBuffer(int column) {
        return firstBuffer[column];
    }

    /** Returns the index of a column's offsets buffer. Only for types that have one. */
    public int offsetsBuffer(int column) {
        return firstBuffer[column] + 1;
    }

    /** Returns the index of the validity buffer of the items. Only for lists whose items may be null. */
    public int itemValidityBuffer(int column) {
        return firstBuffer[column] + 2;
    }

    /** Returns the index of the offsets buffer of the items. Only for the layout NESTED. */
    public int itemOffsetsBuffer(int column) {
        return firstBuffer[column] + 3;
    }

    /** Returns the index of a column's values buffer, its last one. */
    public int valuesBuffer(int column) {
        return firstBuffer[column + 1] - 1;
    }

    /** Returns whether the buffer contains payload data. */
    public boolean isPayload(int buffer) {
        return payloadBuffer[buffer];
    }

    /**
     * Sets the lengths of the nodes of a column's children.
     *
     * @param rows number of rows
     * @param items number of items; only for the layout NESTED
     * @param valueBytes bytes of the values
     * @param nodeLengths receives the lengths
     */
    public void setChildren(int column, FieldType type, int rows, long items, long valueBytes, long[] nodeLengths) {
        int node = firstNode[column];
        if (type.layout() == FieldType.Layout.LIST) {
            nodeLengths[node + 1] = valueBytes / type.width();
        } else if (type instanceof TensorType tensor) {
            nodeLengths[node + 1] = (long) rows * tensor.size();
        } else if (type.layout() == FieldType.Layout.NESTED) {
            nodeLengths[node + 1] = items;
            if (type instanceof ListType list && list.isOfLists()) {
                nodeLengths[node + 2] = valueBytes / type.width();
            }
        }
    }

    /** Returns the number of buffers that contain no payload data. */
    public int smallBuffers() {
        int count = 0;
        for (boolean isPayload : payloadBuffer) {
            count += isPayload ? 0 : 1;
        }
        return count;
    }

    /** Returns the bytes of prefix, flatbuffer and padding. The body begins there. */
    public int headLength() {
        return (int) align(PREFIX + (long) flatbufferLength());
    }

    /** Returns {@link #headLength} of a dictionary batch. */
    int dictionaryHeadLength() {
        return (int) align(PREFIX + (long) flatbufferLength() + DICTIONARY_TABLE);
    }

    private int flatbufferLength() {
        return NODES + NODE_SIZE * nodes() + 8 + BUFFER_SIZE * buffers();
    }

    /**
     * Places buffers in the body.
     *
     * @param lengths of all buffers
     * @param offsets receives their offsets in the body
     * @return offset of the first payload data buffer, where the small part of the body ends
     */
    public long place(long[] lengths, long[] offsets) {
        long end = 0;
        for (int b = 0; b < payloadBuffer.length; b++) {
            if (!payloadBuffer[b]) {
                offsets[b] = end;
                end = align(end + lengths[b]);
            }
        }
        long small = end;
        for (int b = 0; b < payloadBuffer.length; b++) {
            if (payloadBuffer[b]) {
                offsets[b] = end;
                end = align(end + lengths[b]);
            }
        }
        return small;
    }

    /** Returns the length of the body with these buffers, including padding. */
    public long bodyLength(long[] lengths) {
        long end = 0;
        for (long length : lengths) {
            end += align(length);
        }
        return end;
    }

    /**
     * Writes prefix, flatbuffer and padding at a buffer's position. The buffer must be little-endian.
     *
     * @param rows number of rows of the batch
     * @param nodeLengths rows, or elements for a child, for each node
     * @param nullCounts null count of each node
     * @param offsets offset of each buffer, from {@link #place}
     * @param lengths length of each buffer
     */
    public void writeHead(
            ByteBuffer dst, long rows, long[] nodeLengths, long[] nullCounts, long[] offsets, long[] lengths) {
        int end = dst.position() + headLength();
        putMessage(dst, headLength(), RECORD_BATCH, bodyLength(lengths));
        putBatch(dst, rows, nodeLengths, nullCounts, offsets, lengths);
        putZeros(dst, end);
    }

    /**
     * Writes prefix, flatbuffer and padding of a dictionary batch at a buffer's position. The buffer must be
     * little-endian. The layout must have one utf8 column.
     *
     * @param id id of the dictionary
     * @param rows number of values
     * @param offsets offset of each buffer, from {@link #place}
     * @param lengths length of each buffer
     */
    void writeDictionaryHead(ByteBuffer dst, long id, long rows, long[] offsets, long[] lengths) {
        int end = dst.position() + dictionaryHeadLength();
        putMessage(dst, dictionaryHeadLength(), DICTIONARY_BATCH, bodyLength(lengths));
        putShorts(dst, 8, 16, 8, 4);
        dst.putLong(0);
        dst.putInt(16).putInt(28).putLong(id);
        putBatch(dst, rows, new long[] {rows}, new long[nodes()], offsets, lengths);
        putZeros(dst, end);
    }

    private static void putMessage(ByteBuffer dst, int headLength, byte type, long bodyLength) {
        dst.putInt(0xFFFFFFFF).putInt(headLength - PREFIX);
        dst.putInt(24).putInt(0);
        putShorts(dst, 12, 24, 16, 18, 4, 8);
        dst.putInt(0);
        dst.putInt(16).putInt(36).putLong(bodyLength);
        dst.putShort((short) 4).put(type).put((byte) 0).putInt(0);
    }

    private void putBatch(
            ByteBuffer dst, long rows, long[] nodeLengths, long[] nullCounts, long[] offsets, long[] lengths) {
        int n = nodes();
        int b = buffers();
        putShorts(dst, 10, 24, 8, 4, 16);
        dst.putShort((short) 0).putInt(0);
        dst.putInt(16).putInt(24).putLong(rows).putInt(20 + NODE_SIZE * n).putLong(0);
        dst.putInt(n);
        for (int i = 0; i < n; i++) {
            dst.putLong(nodeLengths[i]).putLong(nullCounts[i]);
        }
        dst.putInt(0).putInt(b);
        for (int i = 0; i < b; i++) {
            dst.putLong(offsets[i]).putLong(lengths[i]);
        }
    }

    private static void putZeros(ByteBuffer dst, int end) {
        while (dst.position() < end) {
            dst.put((byte) 0);
        }
    }

    /** Returns the next multiple of 64. */
    public static long align(long length) {
        return (length + ALIGNMENT - 1) & -ALIGNMENT;
    }

    private static void putShorts(ByteBuffer dst, int... values) {
        for (int value : values) {
            dst.putShort((short) value);
        }
    }
}
