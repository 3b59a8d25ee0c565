package dev.stoker.schemas.arrow;

import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.values.NumberBytes;
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
    /** Position of the items' offsets in the layout NESTED; -1 for other layouts and if there are no items. */
    private final int itemOffsetsAt;
    /** Position of the validity of the items that may be null; -1 if none is null. */
    private final int itemValidityAt;

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
        this.itemValidityAt = positions[4];
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
        ColumnCheck check = new ColumnCheck(field, batch, file);
        int validity = layout.validityBuffer(column);
        int values = layout.valuesBuffer(column);
        int node = layout.firstNode(column);
        int rows = batch.rows();
        FieldType type = field.type();
        check.equal("rows", rows, batch.nodeLengths()[node]);
        int nulls = check.nulls(node);
        int[] positions = {-1, -1, check.position(bodyAt, values), -1, -1};
        if (nulls > 0) {
            check.atLeast("validity bytes", (rows + 7L) / 8, batch.lengths()[validity]);
            positions[0] = check.position(bodyAt, validity);
            int set = ColumnCheck.ones(bytes, positions[0], rows);
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
                int items = check.items(node + 1, type);
                positions[1] = check.offsetsAt(bodyAt, layout.offsetsBuffer(column), rows);
                check.atLeast("items", check.offsets(bytes, positions[1], rows), items);
                positions[3] = check.offsetsAt(bodyAt, layout.itemOffsetsBuffer(column), items);
                check.atLeast("value bytes", check.offsets(bytes, positions[3], items) * type.width(), length);
            }
        }
        if (type.hasNullItems()) {
            int buffer = layout.itemValidityBuffer(column);
            positions[4] = check.itemValidity(node + 1, buffer, bodyAt, bytes);
        }
        if (RecordBatchLayout.hasElements(type)) {
            if (type.hasNullItems()) {
                check.atLeast("items", check.lastOffset(bytes, positions[1], rows), batch.nodeLengths()[node + 1]);
            }
            check.child(node + RecordBatchLayout.nodeCount(type) - 1, type, length);
        }
        return new ArrowColumn(field, rows, nulls, bytes, positions, (int) length);
    }

    /** Returns a column of a small field that is null in all rows. */
    public static ArrowColumn ofNulls(Field field, int rows) {
        FieldType type = field.type();
        boolean hasOffsets = type.hasOffsets();
        int values = hasOffsets || type.layout() == FieldType.Layout.BITS ? 0 : Math.multiplyExact(rows, type.width());
        // All buffers are zeros, so they are the same bytes.
        ByteBuffer zeros = ByteBuffer.allocate(Math.max(values, 4 * (rows + 1))).order(ByteOrder.LITTLE_ENDIAN);
        int[] positions = {0, hasOffsets ? 0 : -1, 0, -1, -1};
        return new ArrowColumn(ArrowField.of(field), rows, rows, zeros, positions, values);
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
            case INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, CATEGORICAL, DATE ->
                NumberBytes.integerAt(scalar, bytes, valuesAt + scalar.width() * row);
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
            case FLOAT16, BFLOAT16, FLOAT32, FLOAT64 ->
                NumberBytes.floatAt(scalar, bytes, valuesAt + scalar.width() * row);
            default -> throw wrongKind("floating-point numbers");
        };
    }

    /** Returns text. Bytes that are not UTF-8 become replacement characters. */
    public String stringAt(int row) {
        byte[] text = new byte[valueLength(row)];
        bytes.get(valuePosition(row), text);
        return new String(text, StandardCharsets.UTF_8);
    }

    /** Returns the number of items of a row of a list of any kind. */
    public int itemCount(int row) {
        return bytes.getInt(offsetsAt + 4 * row + 4) - bytes.getInt(offsetsAt + 4 * row);
    }

    /** Returns whether an item is null. Only a {@link ListType} may have such items. */
    public boolean isNullItem(int row, int item) {
        return itemValidityAt >= 0 && !bit(itemValidityAt, bytes.getInt(offsetsAt + 4 * row) + item);
    }

    /**
     * Returns a view of the bytes of an item: a number, a text, a byte string, or the elements of a list. A null item
     * has zeros or no bytes.
     */
    public ByteBuffer itemAt(int row, int item) {
        if (itemOffsetsAt < 0) {
            int number = valuePosition(row) + item * type.width();
            return bytes.slice(number, type.width()).order(ByteOrder.LITTLE_ENDIAN);
        }
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
     * of a {@link ListType} one after the other.
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
     * each item in the layout NESTED, and a bit for each item that may be null; 0 for bool.
     */
    public int storedLength(int row) {
        int bits = type.hasNullItems() ? ItemValidity.bytes(itemCount(row)) : 0;
        return switch (type.layout()) {
            case BITS -> 0;
            case NESTED -> valueLength(row) + 4 * itemCount(row) + bits;
            default -> valueLength(row) + bits;
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

    private IllegalStateException wrongKind(String asked) {
        return new IllegalStateException("column " + field.name() + " has the type " + type + ", not " + asked);
    }
}
