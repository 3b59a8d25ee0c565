package dev.stoker.schemas.arrow;

import dev.stoker.schemas.errors.CorruptDataException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Provides access to one column of a record batch in memory. Creation checks that validity, offsets and lengths are
 * consistent, so access to a row never leaves the column. Immutable and thread-safe. Row numbers are not checked:
 * outside 0 to rows-1 the result is undefined or an IndexOutOfBoundsException.
 *
 * <p>The values of a column may be beyond the end of the available bytes (payload, if only the head was read). In this
 * case only positions and lengths are available.
 */
public final class ArrowColumn {
    private final ArrowField field;
    private final FieldType type;
    private final int rows;
    private final int nullCount;
    private final ByteBuffer bytes;
    private final int validityAt;
    private final int offsetsAt;
    private final int valuesAt;
    private final int valuesLength;
    /** Position of the items' offsets of a {@link NestedListType}; -1 for other types and if there are no items. */
    private final int itemOffsetsAt;

    private ArrowColumn(
            ArrowField field, int rows, int nullCount, ByteBuffer bytes, int[] positions, int valuesLength) {
        this.field = field;
        this.type = field.type();
        this.rows = rows;
        this.nullCount = nullCount;
        this.bytes = bytes;
        this.validityAt = positions[0];
        this.offsetsAt = positions[1];
        this.valuesAt = positions[2];
        this.itemOffsetsAt = positions[3];
        this.valuesLength = valuesLength;
    }

    /**
     * Checks a column and provides access to it.
     *
     * @param bytes little-endian; index 0 is the file's start; contains everything except payload values
     * @param bodyAt position of the body in the file
     */
    static ArrowColumn open(
            ArrowField field,
            int column,
            RecordBatchLayout layout,
            RecordBatch batch,
            ByteBuffer bytes,
            int bodyAt,
            String file)
            throws CorruptDataException {
        Check check = new Check(field, batch, file);
        int validity = layout.validityBuffer(column);
        int values = layout.valuesBuffer(column);
        int node = layout.firstNode(column);
        int rows = batch.rows();
        FieldType type = field.type();
        check.equal("rows", rows, batch.nodeLengths()[node]);
        int nulls = check.nulls(node);
        int[] positions = {-1, -1, check.position(bodyAt, values), -1};
        if (nulls > 0) {
            check.atLeast("validity bytes", (rows + 7L) / 8, batch.lengths()[validity]);
            positions[0] = check.position(bodyAt, validity);
            int set = ones(bytes, positions[0], rows);
            check.equal("set validity bits", rows - nulls, set);
        }
        long length = batch.lengths()[values];
        switch (type.layout()) {
            case BITS -> check.atLeast("value bytes", (rows + 7L) / 8, length);
            case FIXED, TENSOR -> check.atLeast("value bytes", (long) rows * type.width(), length);
            case BYTES, LIST -> {
                int offsets = layout.offsetsBuffer(column);
                positions[1] = check.offsetsAt(bodyAt, offsets, rows);
                check.atLeast("value bytes", check.offsets(bytes, positions[1], rows) * type.width(), length);
            }
            case NESTED -> {
                int items = check.items(node + 1);
                positions[1] = check.offsetsAt(bodyAt, layout.offsetsBuffer(column), rows);
                check.atLeast("items", check.offsets(bytes, positions[1], rows), items);
                positions[3] = check.offsetsAt(bodyAt, layout.itemOffsetsBuffer(column), items);
                check.atLeast("value bytes", check.offsets(bytes, positions[3], items) * type.width(), length);
            }
        }
        if (RecordBatchLayout.hasElements(type)) {
            check.child(node + RecordBatchLayout.nodeCount(type) - 1, type, length);
        }
        return new ArrowColumn(field, rows, nulls, bytes, positions, (int) length);
    }

    /** Returns the column's description. */
    public ArrowField field() {
        return field;
    }

    /** Returns the number of rows. */
    public int rows() {
        return rows;
    }

    /** Returns the number of null rows. */
    public int nullCount() {
        return nullCount;
    }

    /** Returns whether the row is null. */
    public boolean isNull(int row) {
        return validityAt >= 0 && !bit(validityAt, row);
    }

    /**
     * Returns an integer, bool (0, 1) or categorical id; the days of a date; the units of a timestamp or a time.
     * Unsigned values are not sign-extended (64-bit ones keep their bits).
     */
    public long longAt(int row) {
        if (!(type instanceof ScalarType scalar)) {
            return unitsAt(row);
        }
        return switch (scalar) {
            case BOOL -> bit(valuesAt, row) ? 1 : 0;
            case INT8 -> bytes.get(valuesAt + row);
            case UINT8 -> bytes.get(valuesAt + row) & 0xFF;
            case INT16 -> bytes.getShort(valuesAt + 2 * row);
            case UINT16 -> bytes.getShort(valuesAt + 2 * row) & 0xFFFF;
            case INT32, CATEGORICAL, DATE -> bytes.getInt(valuesAt + 4 * row);
            case UINT32 -> bytes.getInt(valuesAt + 4 * row) & 0xFFFFFFFFL;
            case INT64, UINT64 -> bytes.getLong(valuesAt + 8 * row);
            default -> throw wrongKind("integers");
        };
    }

    private long unitsAt(int row) {
        if (!(type instanceof TimestampType) && !(type instanceof TimeType)) {
            throw wrongKind("integers");
        }
        return type.width() == 4 ? bytes.getInt(valuesAt + 4 * row) : bytes.getLong(valuesAt + 8 * row);
    }

    /** Returns a decimal number, with the scale of the type. */
    public BigDecimal decimalAt(int row) {
        if (!(type instanceof DecimalType decimal)) {
            throw wrongKind("decimal numbers");
        }
        byte[] bigEndian = new byte[DecimalType.WIDTH];
        int at = valuesAt + DecimalType.WIDTH * row;
        for (int i = 0; i < bigEndian.length; i++) {
            bigEndian[i] = bytes.get(at + bigEndian.length - 1 - i);
        }
        return new BigDecimal(new BigInteger(bigEndian), decimal.scale());
    }

    /** Returns the 32 bits of an int32, uint32 or categorical column. */
    public int intAt(int row) {
        return bytes.getInt(valuesAt + 4 * row);
    }

    /** Returns a bool. */
    public boolean booleanAt(int row) {
        return longAt(row) != 0;
    }

    /** Returns a floating-point number. */
    public double doubleAt(int row) {
        if (!(type instanceof ScalarType scalar)) {
            throw wrongKind("floating-point numbers");
        }
        return switch (scalar) {
            case FLOAT16 -> HalfFloats.fromFloat16(bytes.getShort(valuesAt + 2 * row));
            case BFLOAT16 -> HalfFloats.fromBfloat16(bytes.getShort(valuesAt + 2 * row));
            case FLOAT32 -> bytes.getFloat(valuesAt + 4 * row);
            case FLOAT64 -> bytes.getDouble(valuesAt + 8 * row);
            default -> throw wrongKind("floating-point numbers");
        };
    }

    /** Returns text. Bytes that are not UTF-8 become replacement characters. */
    public String stringAt(int row) {
        byte[] text = new byte[valueLength(row)];
        bytes.get(valuePosition(row), text);
        return new String(text, StandardCharsets.UTF_8);
    }

    /** Returns the number of items of a row of a {@link NestedListType}. */
    public int itemCount(int row) {
        return bytes.getInt(offsetsAt + 4 * row + 4) - bytes.getInt(offsetsAt + 4 * row);
    }

    /** Returns a view of the bytes of an item: a text, a byte string, or the elements of a list. */
    public ByteBuffer itemAt(int row, int item) {
        int at = itemOffsetsAt + 4 * (bytes.getInt(offsetsAt + 4 * row) + item);
        int start = bytes.getInt(at) * type.width();
        int length = bytes.getInt(at + 4) * type.width() - start;
        return bytes.slice(valuesAt + start, length).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Returns the offset of an item's end from the start of its row's first item, in units of the item offsets. */
    public int itemEnd(int row, int item) {
        int at = itemOffsetsAt + 4 * bytes.getInt(offsetsAt + 4 * row);
        return bytes.getInt(at + 4 * (item + 1)) - bytes.getInt(at);
    }

    /**
     * Returns a view of the value's bytes: utf8, binary, fixed-size binary, elements of a list or tensor, or all items
     * of a {@link NestedListType} one after the other.
     */
    public ByteBuffer bytesAt(int row) {
        return bytes.slice(valuePosition(row), valueLength(row)).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Returns the elements of a list of int32. */
    public int[] intsAt(int row) {
        int at = valuePosition(row);
        int[] elements = new int[valueLength(row) / 4];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = bytes.getInt(at + 4 * i);
        }
        return elements;
    }

    /** Returns the position of the value's bytes in the file. Not for bool. */
    public int valuePosition(int row) {
        return offsetsAt >= 0 ? valuesAt + valueOffset(row) * type.width() : valuesAt + row * type.width();
    }

    /** Returns the length of the value in bytes. Not for bool. */
    public int valueLength(int row) {
        if (offsetsAt < 0) {
            return type.width();
        }
        return (valueOffset(row + 1) - valueOffset(row)) * type.width();
    }

    private int valueOffset(int row) {
        int offset = bytes.getInt(offsetsAt + 4 * row);
        return itemOffsetsAt < 0 ? offset : bytes.getInt(itemOffsetsAt + 4 * offset);
    }

    /**
     * Returns the bytes of the value without validity and the offset of the row: {@link #valueLength}, with 4 bytes for
     * each item of a {@link NestedListType}; 0 for bool.
     */
    public int storedLength(int row) {
        return switch (type.layout()) {
            case BITS -> 0;
            case NESTED -> valueLength(row) + 4 * itemCount(row);
            default -> valueLength(row);
        };
    }

    /** Returns the position of the values buffer in the file. */
    public int valuesPosition() {
        return valuesAt;
    }

    /** Returns the length of the values buffer in bytes, without padding. */
    public int valuesLength() {
        return valuesLength;
    }

    /** Returns the little-endian bytes that positions refer to. They may be read only by absolute index. */
    public ByteBuffer bytes() {
        return bytes;
    }

    private boolean bit(int bitmapAt, int row) {
        return (bytes.get(bitmapAt + (row >>> 3)) >>> (row & 7) & 1) == 1;
    }

    private static int ones(ByteBuffer bytes, int at, int rows) {
        int set = 0;
        for (int i = 0; i < rows / 8; i++) {
            set += Integer.bitCount(bytes.get(at + i) & 0xFF);
        }
        if (rows % 8 != 0) {
            set += Integer.bitCount(bytes.get(at + rows / 8) & ((1 << (rows % 8)) - 1));
        }
        return set;
    }

    private IllegalStateException wrongKind(String asked) {
        return new IllegalStateException("column " + field.name() + " has the type " + type + ", not " + asked);
    }

    /** Compares values and reports mismatches. */
    private record Check(ArrowField field, RecordBatch batch, String file) {
        void equal(String what, long expected, long found) throws CorruptDataException {
            if (expected != found) {
                throw CorruptDataException.mismatch(file, what + " of column " + field.name(), expected, found);
            }
        }

        void atLeast(String what, long expected, long found) throws CorruptDataException {
            if (found < expected) {
                throw CorruptDataException.mismatch(
                        file, what + " of column " + field.name(), "at least " + expected, found);
            }
        }

        int nulls(int node) throws CorruptDataException {
            long nulls = batch.nullCounts()[node];
            if (nulls > 0 && !field.nullable()) {
                equal("nulls", 0, nulls);
            }
            return (int) nulls;
        }

        int position(int bodyAt, int buffer) {
            return (int) (bodyAt + batch.offsets()[buffer]);
        }

        /** Returns the position of an offsets buffer; -1 if it is empty, which Arrow permits for 0 rows. */
        int offsetsAt(int bodyAt, int buffer, int rows) throws CorruptDataException {
            if (rows == 0 && batch.lengths()[buffer] == 0) {
                return -1;
            }
            atLeast("offset bytes", 4L * (rows + 1L), batch.lengths()[buffer]);
            return position(bodyAt, buffer);
        }

        /** Returns the number of items of a node, after a check that none is null. */
        int items(int node) throws CorruptDataException {
            equal("nulls among the items", 0, batch.nullCounts()[node]);
            long items = batch.nodeLengths()[node];
            if (items >= Integer.MAX_VALUE) {
                equal("items", Integer.MAX_VALUE, items);
            }
            return (int) items;
        }

        /** Returns the last offset, after a check that they ascend. */
        long offsets(ByteBuffer bytes, int at, int rows) throws CorruptDataException {
            if (at < 0) {
                return 0;
            }
            int before = bytes.getInt(at);
            if (before < 0) {
                throw CorruptDataException.mismatch(file, "offset 0 of column " + field.name(), "0", before);
            }
            for (int row = 1; row <= rows; row++) {
                int next = bytes.getInt(at + 4 * row);
                if (next < before) {
                    throw CorruptDataException.mismatch(
                            file, "offset " + row + " of column " + field.name(), "at least " + before, next);
                }
                before = next;
            }
            return before;
        }

        void child(int node, FieldType type, long valueBytes) throws CorruptDataException {
            equal("nulls among the elements", 0, batch.nullCounts()[node]);
            int width = type instanceof TensorType tensor ? tensor.element().width() : type.width();
            long elements = batch.nodeLengths()[node];
            if (elements > Integer.MAX_VALUE) {
                equal("elements", Integer.MAX_VALUE, elements);
            }
            atLeast("value bytes", elements * width, valueBytes);
        }
    }
}
