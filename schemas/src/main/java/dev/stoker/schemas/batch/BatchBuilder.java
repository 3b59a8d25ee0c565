package dev.stoker.schemas.batch;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.RecordBatchLayout;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.FieldType.Layout;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.RowSize;
import dev.stoker.schemas.crc.ConcatCrc;
import dev.stoker.schemas.errors.ForeignFileException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Builds the batch messages of a dataset in the layout of {@link RecordBatchLayout}. The columns are the key, the small
 * fields and the payload fields, or the columns of a {@link View}. Categorical columns contain the version's ids.
 * Payload bytes are sliced and never read: the message's checksum follows from the samples' checksums. Not thread-safe;
 * the built messages are independent of the builder.
 */
public final class BatchBuilder {
    private static final ByteBuffer ZEROS =
            ByteBuffer.allocateDirect(RecordBatchLayout.ALIGNMENT).asReadOnlyBuffer();

    private final List<Field> fields;
    /** Numbers of the batch's columns in the dataset: 0 for the key, f + 1 for field f. */
    private final int[] numbers;

    private final FieldType[] types;
    private final boolean[] nullable;
    private final boolean[] payload;
    private final RecordBatchLayout layout;
    private final long[] nodeLengths;
    private final long[] nullCounts;
    private final long[] lengths;
    private final long[] offsets;
    private final ConcatCrc crc = new ConcatCrc();
    private final List<ByteBuffer> parts = new ArrayList<>();
    /** Receiver of payload; by default the parts. */
    private Slices sink = new Slices() {
        @Override
        public void slice(BatchChunk chunk, int position, int length) {
            // Without bytes, only the message's checksum is needed.
            if (chunk.bytes() != null) {
                parts.add(chunk.bytes().slice(position - chunk.bytesAt(), length));
            }
        }

        @Override
        public void zeros(int length) {
            parts.add(ZEROS.slice(0, length));
        }
    };

    /** Creates a builder of messages with all columns, for datasets with these fields, in dataset order. */
    public BatchBuilder(List<Field> fields) {
        this(fields, View.whole(fields.stream().map(Field::name).toList()));
    }

    /** Creates a builder of messages with the columns of a view of the dataset. */
    public BatchBuilder(List<Field> fields, View view) {
        this.fields = List.copyOf(fields);
        this.numbers = view.numbers();
        this.types = new FieldType[numbers.length];
        this.nullable = new boolean[numbers.length];
        this.payload = new boolean[numbers.length];
        for (int c = 0; c < numbers.length; c++) {
            Field field = numbers[c] == 0 ? null : fields.get(numbers[c] - 1);
            types[c] = field == null ? ScalarType.UTF8 : field.type();
            nullable[c] = field != null && field.nullable();
            payload[c] = field != null && field.payload();
        }
        this.layout = RecordBatchLayout.of(List.of(types), payload);
        this.nodeLengths = new long[layout.nodes()];
        this.nullCounts = new long[layout.nodes()];
        this.lengths = new long[layout.buffers()];
        this.offsets = new long[layout.buffers()];
    }

    /** Returns a chunk that provides rows, after a check that it has this dataset's fields; see {@link BatchChunk}. */
    public BatchChunk chunk(ChunkHead head, @Nullable ByteBuffer bytes, int bytesAt, int[][] classIds)
            throws ForeignFileException {
        if (!head.fields().equals(fields)) {
            throw new ForeignFileException(
                    head.file(), "a chunk of a dataset with the fields " + fields, "its fields are " + head.fields());
        }
        return new BatchChunk(head, bytes, bytesAt, classIds);
    }

    /**
     * Builds a message from the rows {@code (chunks[chunkOf[i]], rowOf[i])} for from ≤ i &lt; to. Does not check rows
     * against their chunks. Throws IllegalArgumentException if the body would have 2^31 bytes or more.
     *
     * @param scratch returns a buffer with at least the given number of bytes remaining. The message's first part is
     *     written at its position, which moves to the part's end. It belongs to the message until the message has been
     *     sent
     */
    public BatchMessage build(
            BatchChunk[] chunks, int[] chunkOf, int[] rowOf, int from, int to, IntFunction<ByteBuffer> scratch) {
        BatchRows rows = new BatchRows(chunks, chunkOf, rowOf, from, to, numbers);
        for (int c = 0; c < types.length; c++) {
            measure(c, rows);
        }
        int small = layout.headLength() + (int) layout.place(lengths, offsets);
        long length = layout.headLength() + layout.bodyLength(lengths);
        if (length > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a batch of " + rows.count() + " samples has " + length
                    + " bytes; 2^31 is the limit; use a smaller batch size");
        }
        parts.clear();
        crc.reset();
        ByteBuffer first = writeSmall(rows, small, scratch.apply(small));
        parts.add(first);
        crc.add(first);
        for (int c = 0; c < types.length; c++) {
            if (payload[c]) {
                addPayload(c, rows);
            }
        }
        return new BatchMessage(rows.count(), (int) length, crc.value(), parts.toArray(ByteBuffer[]::new));
    }

    /** Receives a message's payload as positions in chunks, in order, instead of as bytes. */
    public interface Slices {
        /** Receives bytes [position, position + length) of the chunk's file. */
        void slice(BatchChunk chunk, int position, int length);

        /** Receives a number of zeros, fewer than {@link RecordBatchLayout#ALIGNMENT}. */
        void zeros(int length);
    }

    /**
     * Builds a message like {@link #build(BatchChunk[], int[], int[], int, int, IntFunction)}, but the message has only
     * its first part, and {@code slices} receives the rest.
     */
    public BatchMessage build(
            BatchChunk[] chunks,
            int[] chunkOf,
            int[] rowOf,
            int from,
            int to,
            IntFunction<ByteBuffer> scratch,
            Slices slices) {
        Slices before = sink;
        sink = slices;
        try {
            return build(chunks, chunkOf, rowOf, from, to, scratch);
        } finally {
            sink = before;
        }
    }

    /**
     * Returns an upper bound of the length of a message.
     *
     * @param rows number of rows of the message
     * @param largestRow maximum bytes of a row, according to the log
     */
    public long largestMessage(int rows, long largestRow) {
        long padding = (RecordBatchLayout.ALIGNMENT + 4L) * layout.buffers();
        return layout.headLength() + padding + rows * largestRow;
    }

    /**
     * Returns an upper bound of the bytes of a row in these columns.
     *
     * @param largestRow maximum bytes of a row with all columns, according to the log
     */
    public long largestRow(long largestRow) {
        BitSet selected = new BitSet();
        long fixed = 0;
        boolean varying = false;
        for (int c = 0; c < types.length; c++) {
            selected.set(numbers[c]);
            fixed += RowSize.of(types[c], nullable[c], 0);
            varying |= types[c].hasOffsets();
        }
        long others = selected.get(0) ? 0 : RowSize.of(ScalarType.UTF8, false, 0);
        for (int f = 0; f < fields.size(); f++) {
            Field field = fields.get(f);
            others += selected.get(f + 1) ? 0 : RowSize.of(field.type(), field.nullable(), 0);
        }
        long rest = Math.max(fixed, largestRow - others);
        return varying ? rest : fixed;
    }

    /** Computes the lengths of a column's buffers and nodes. */
    private void measure(int c, BatchRows rows) {
        FieldType type = types[c];
        int count = rows.count();
        int nulls = nullable[c] ? rows.nulls(c) : 0;
        int node = layout.firstNode(c);
        nodeLengths[node] = count;
        nullCounts[node] = nulls;
        lengths[layout.validityBuffer(c)] = nulls == 0 ? 0 : bitmapLength(count);
        long values = switch (type.layout()) {
            case BITS -> bitmapLength(count);
            case FIXED, TENSOR -> (long) count * type.width();
            case BYTES, LIST, NESTED -> rows.valueBytes(c);
        };
        lengths[layout.valuesBuffer(c)] = values;
        if (type.hasOffsets()) {
            lengths[layout.offsetsBuffer(c)] = 4L * (count + 1);
        }
        long items = 0;
        if (type.layout() == Layout.NESTED) {
            items = rows.items(c);
            lengths[layout.itemOffsetsBuffer(c)] = 4 * (items + 1);
        }
        layout.setChildren(c, type, count, items, values, nodeLengths);
        if (type.hasNullItems()) {
            nullCounts[node + 1] = rows.nullItems(c);
            lengths[layout.itemValidityBuffer(c)] =
                    nullCounts[node + 1] == 0 ? 0 : bitmapLength((int) nodeLengths[node + 1]);
        }
    }

    private ByteBuffer writeSmall(BatchRows rows, int length, ByteBuffer scratch) {
        if (scratch.remaining() < length) {
            throw new IllegalArgumentException(
                    "the scratch buffer has " + scratch.remaining() + " bytes, " + length + " were asked for");
        }
        ByteBuffer out = scratch.slice(scratch.position(), length).order(ByteOrder.LITTLE_ENDIAN);
        scratch.position(scratch.position() + length);
        layout.writeHead(out, rows.count(), nodeLengths, nullCounts, offsets, lengths);
        int body = out.position();
        for (int c = 0; c < types.length; c++) {
            int validity = layout.validityBuffer(c);
            int values = layout.valuesBuffer(c);
            if (lengths[validity] > 0) {
                rows.writeValidity(c, out, body + (int) offsets[validity]);
            }
            if (types[c].hasNullItems()) {
                int items = layout.itemValidityBuffer(c);
                if (lengths[items] > 0) {
                    rows.writeItemValidity(c, out, body + (int) offsets[items]);
                }
                pad(out, body, items);
            }
            if (types[c].hasOffsets()) {
                int at = layout.offsetsBuffer(c);
                if (types[c].layout() == Layout.NESTED) {
                    int items = layout.itemOffsetsBuffer(c);
                    rows.writeItemOffsets(c, out, body + (int) offsets[at], body + (int) offsets[items]);
                    pad(out, body, items);
                } else {
                    rows.writeOffsets(c, types[c].width(), out, body + (int) offsets[at]);
                }
                pad(out, body, at);
            }
            if (!layout.isPayload(values)) {
                rows.writeValues(c, types[c], out, body + (int) offsets[values]);
                pad(out, body, values);
            }
            pad(out, body, validity);
        }
        return out.position(0);
    }

    private void pad(ByteBuffer out, int body, int buffer) {
        long end = offsets[buffer] + lengths[buffer];
        long padded = RecordBatchLayout.align(end);
        for (long at = end; lengths[buffer] > 0 && at < padded; at++) {
            out.put((int) (body + at), (byte) 0);
        }
    }

    @SuppressWarnings("ReferenceEquality") // A run is within one chunk object.
    private void addPayload(int c, BatchRows rows) {
        int field = numbers[c] - 1;
        @Nullable BatchChunk run = null;
        int begin = 0;
        int end = 0;
        for (int i = 0; i < rows.count(); i++) {
            BatchChunk chunk = rows.chunk(i);
            int row = rows.row(i);
            ArrowColumn column = chunk.head().column(field);
            int position = column.valuePosition(row);
            int length = column.valueLength(row);
            crc.add(chunk.head().payloadCrc32c(field, row), length);
            if (chunk != run || position != end) {
                slice(run, begin, end);
                run = chunk;
                begin = position;
            }
            end = position + length;
        }
        slice(run, begin, end);
        int buffer = layout.valuesBuffer(c);
        int padding = (int) (RecordBatchLayout.align(lengths[buffer]) - lengths[buffer]);
        if (padding > 0) {
            sink.zeros(padding);
            crc.addZeros(padding);
        }
    }

    private void slice(@Nullable BatchChunk chunk, int begin, int end) {
        if (chunk != null && end > begin) {
            sink.slice(chunk, begin, end - begin);
        }
    }

    private static int bitmapLength(int rows) {
        return (rows + 7) / 8;
    }
}
