package dev.stoker.schemas.batch;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.RecordBatchLayout;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.FieldType.Layout;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Joins rows of several batch messages into one message in the canonical form. Joins the parts of a piece, or fills up
 * a batch with rows of another one. Immutable and thread-safe.
 */
public final class MessageJoin {
    /**
     * Identifies rows of a message.
     *
     * @param columns the columns to join, in order; the message can have further columns
     * @param from the first row
     * @param to the row after the last
     */
    public record Cut(List<ArrowColumn> columns, int from, int to) {
        public Cut {
            if (from < 0 || to < from || to > columns.get(0).rows()) {
                throw new IllegalArgumentException(
                        "rows " + from + " to " + to + " of " + columns.get(0).rows());
            }
        }

        int rows() {
            return to - from;
        }
    }

    /** Contains lengths and offsets of one message. */
    private record Plan(int rows, long[] nodeLengths, long[] nullCounts, long[] offsets, long[] lengths) {}

    private final List<FieldType> types = new ArrayList<>();
    private final RecordBatchLayout layout;

    /** Creates a join for messages with all columns of a dataset with these fields, in dataset order. */
    public MessageJoin(List<Field> fields) {
        this(fields, View.whole(fields.stream().map(Field::name).toList()));
    }

    /** Creates a join for messages with the columns of a view of the dataset. */
    public MessageJoin(List<Field> fields, View view) {
        int[] numbers = view.numbers();
        boolean[] payload = new boolean[numbers.length];
        for (int c = 0; c < numbers.length; c++) {
            Field field = numbers[c] == 0 ? null : fields.get(numbers[c] - 1);
            types.add(field == null ? ScalarType.UTF8 : field.type());
            payload[c] = field != null && field.payload();
        }
        this.layout = RecordBatchLayout.of(types, payload);
    }

    /**
     * Builds the message of the cuts' rows in sequence.
     *
     * @param memory returns a buffer from index 0 to a limit of exactly the given number of bytes; the message is
     *     written there
     * @throws IllegalArgumentException if the message would have 2^31 bytes or more
     */
    public ByteBuffer join(List<Cut> cuts, IntFunction<ByteBuffer> memory) {
        Plan plan = plan(cuts);
        long length = layout.headLength() + layout.bodyLength(plan.lengths);
        if (length > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a batch of " + plan.rows + " samples has " + length
                    + " bytes; 2^31 is the limit; use a smaller batch size");
        }
        ByteBuffer message = memory.apply((int) length);
        ByteBuffer out = message.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
        layout.writeHead(out, plan.rows, plan.nodeLengths, plan.nullCounts, plan.offsets, plan.lengths);
        int body = out.position();
        for (int c = 0; c < types.size(); c++) {
            write(c, cuts, plan, out, body);
        }
        return message;
    }

    private Plan plan(List<Cut> cuts) {
        Plan plan = new Plan(
                cuts.stream().mapToInt(Cut::rows).sum(),
                new long[layout.nodes()],
                new long[layout.nodes()],
                new long[layout.buffers()],
                new long[layout.buffers()]);
        for (int c = 0; c < types.size(); c++) {
            FieldType type = types.get(c);
            int nulls = 0;
            long values = 0;
            for (Cut cut : cuts) {
                ArrowColumn column = cut.columns.get(c);
                for (int row = cut.from; column.nullCount() > 0 && row < cut.to; row++) {
                    nulls += column.isNull(row) ? 1 : 0;
                }
                values += type.layout() == Layout.BITS ? 0 : bytes(column, type, cut);
            }
            int node = layout.firstNode(c);
            plan.nodeLengths[node] = plan.rows;
            plan.nullCounts[node] = nulls;
            plan.lengths[layout.validityBuffer(c)] = nulls == 0 ? 0 : bitmapLength(plan.rows);
            plan.lengths[layout.valuesBuffer(c)] = type.layout() == Layout.BITS ? bitmapLength(plan.rows) : values;
            if (type.hasOffsets()) {
                plan.lengths[layout.offsetsBuffer(c)] = 4L * (plan.rows + 1);
            }
            long items = type.layout() == Layout.NESTED ? items(cuts, c) : 0;
            if (type.layout() == Layout.NESTED) {
                plan.lengths[layout.itemOffsetsBuffer(c)] = 4 * (items + 1);
            }
            layout.setChildren(c, type, plan.rows, items, values, plan.nodeLengths);
            if (type.hasNullItems()) {
                plan.nullCounts[node + 1] = nullItems(cuts, c);
                plan.lengths[layout.itemValidityBuffer(c)] =
                        plan.nullCounts[node + 1] == 0 ? 0 : bitmapLength((int) plan.nodeLengths[node + 1]);
            }
        }
        layout.place(plan.lengths, plan.offsets);
        return plan;
    }

    private void write(int c, List<Cut> cuts, Plan plan, ByteBuffer out, int body) {
        FieldType type = types.get(c);
        int validity = layout.validityBuffer(c);
        int values = layout.valuesBuffer(c);
        if (plan.lengths[validity] > 0) {
            writeBits(cuts, c, Bits.VALIDITY, out, body + (int) plan.offsets[validity]);
            pad(plan, validity, out, body);
        }
        if (type.hasNullItems() && plan.lengths[layout.itemValidityBuffer(c)] > 0) {
            int items = layout.itemValidityBuffer(c);
            writeItemBits(cuts, c, out, body + (int) plan.offsets[items]);
            pad(plan, items, out, body);
        }
        if (type.hasOffsets()) {
            int offsets = layout.offsetsBuffer(c);
            if (type.layout() == Layout.NESTED) {
                int items = layout.itemOffsetsBuffer(c);
                writeItemOffsets(cuts, c, out, body + (int) plan.offsets[offsets], body + (int) plan.offsets[items]);
                pad(plan, items, out, body);
            } else {
                writeOffsets(cuts, c, out, body + (int) plan.offsets[offsets]);
            }
            pad(plan, offsets, out, body);
        }
        int at = body + (int) plan.offsets[values];
        if (type.layout() == Layout.BITS) {
            writeBits(cuts, c, Bits.VALUES, out, at);
        } else {
            for (Cut cut : cuts) {
                ArrowColumn column = cut.columns.get(c);
                int bytes = (int) bytes(column, type, cut);
                if (bytes > 0) {
                    out.put(at, column.bytes(), column.valuePosition(cut.from), bytes);
                }
                at += bytes;
            }
        }
        pad(plan, values, out, body);
    }

    /** Returns the bytes of the values of a cut. There are no gaps, because a null value has no bytes or zeros. */
    private static long bytes(ArrowColumn column, FieldType type, Cut cut) {
        if (cut.rows() == 0) {
            return 0;
        }
        return type.hasOffsets()
                ? column.valuePosition(cut.to) - (long) column.valuePosition(cut.from)
                : (long) cut.rows() * type.width();
    }

    private void writeOffsets(List<Cut> cuts, int c, ByteBuffer out, int at) {
        int width = types.get(c).width();
        int end = 0;
        int to = at;
        out.putInt(to, 0);
        for (Cut cut : cuts) {
            ArrowColumn column = cut.columns.get(c);
            for (int row = cut.from; row < cut.to; row++) {
                end += column.valueLength(row) / width;
                to += 4;
                out.putInt(to, end);
            }
        }
    }

    private static long items(List<Cut> cuts, int c) {
        long items = 0;
        for (Cut cut : cuts) {
            for (int row = cut.from; row < cut.to; row++) {
                items += cut.columns.get(c).itemCount(row);
            }
        }
        return items;
    }

    private static void writeItemOffsets(List<Cut> cuts, int c, ByteBuffer out, int at, int itemsAt) {
        int items = 0;
        int end = 0;
        int to = at;
        out.putInt(to, 0);
        out.putInt(itemsAt, 0);
        for (Cut cut : cuts) {
            ArrowColumn column = cut.columns.get(c);
            for (int row = cut.from; row < cut.to; row++) {
                int count = column.itemCount(row);
                for (int item = 0; item < count; item++) {
                    out.putInt(itemsAt + 4 * (items + item + 1), end + column.itemEnd(row, item));
                }
                end += count == 0 ? 0 : column.itemEnd(row, count - 1);
                items += count;
                to += 4;
                out.putInt(to, items);
            }
        }
    }

    private enum Bits {
        VALIDITY,
        VALUES
    }

    private static void writeBits(List<Cut> cuts, int c, Bits what, ByteBuffer out, int at) {
        int place = 0;
        int bits = 0;
        for (Cut cut : cuts) {
            ArrowColumn column = cut.columns.get(c);
            for (int row = cut.from; row < cut.to; row++, place++) {
                boolean isSet = what == Bits.VALIDITY ? !column.isNull(row) : column.booleanAt(row);
                bits |= isSet ? 1 << (place & 7) : 0;
                if ((place & 7) == 7) {
                    out.put(at + (place >> 3), (byte) bits);
                    bits = 0;
                }
            }
        }
        if ((place & 7) != 0) {
            out.put(at + (place >> 3), (byte) bits);
        }
    }

    private static long nullItems(List<Cut> cuts, int c) {
        long nulls = 0;
        for (Cut cut : cuts) {
            ArrowColumn column = cut.columns.get(c);
            for (int row = cut.from; row < cut.to; row++) {
                for (int item = 0; item < column.itemCount(row); item++) {
                    nulls += column.isNullItem(row, item) ? 1 : 0;
                }
            }
        }
        return nulls;
    }

    private static void writeItemBits(List<Cut> cuts, int c, ByteBuffer out, int at) {
        int place = 0;
        int bits = 0;
        for (Cut cut : cuts) {
            ArrowColumn column = cut.columns.get(c);
            for (int row = cut.from; row < cut.to; row++) {
                for (int item = 0; item < column.itemCount(row); item++, place++) {
                    bits |= column.isNullItem(row, item) ? 0 : 1 << (place & 7);
                    if ((place & 7) == 7) {
                        out.put(at + (place >> 3), (byte) bits);
                        bits = 0;
                    }
                }
            }
        }
        if ((place & 7) != 0) {
            out.put(at + (place >> 3), (byte) bits);
        }
    }

    private static void pad(Plan plan, int buffer, ByteBuffer out, int body) {
        long end = plan.offsets[buffer] + plan.lengths[buffer];
        for (long at = end; at < RecordBatchLayout.align(end); at++) {
            out.put((int) (body + at), (byte) 0);
        }
    }

    private static int bitmapLength(int rows) {
        return (rows + 7) / 8;
    }
}
