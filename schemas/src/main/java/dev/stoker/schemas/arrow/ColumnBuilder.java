package dev.stoker.schemas.arrow;

import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.FieldType.Layout;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import dev.stoker.schemas.values.NumberBytes;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Collects the values of one column in memory, except payload data. Not thread-safe. Can be reused after {@link
 * #truncate truncate(0)}. If a value does not fit the type, the method throws an IllegalArgumentException that names
 * the column, and leaves the column unchanged.
 */
public final class ColumnBuilder {
    private final ArrowField field;
    private final FieldType type;
    private final boolean nullItems;
    private final ValueChecks checks;
    private final ByteList validity = new ByteList();
    private final ByteList offsets = new ByteList();
    /** Offsets of the items in the layout NESTED; empty in others. */
    private final ByteList itemOffsets = new ByteList();
    /** Used only if items may be null. */
    private final ItemValidity itemValidity = new ItemValidity();

    private final ByteList values = new ByteList();
    private int rows;
    private int nulls;

    /** Creates an empty column. */
    public ColumnBuilder(ArrowField field) {
        this.field = field;
        this.type = field.type();
        this.nullItems = type.hasNullItems();
        this.checks = new ValueChecks(field);
        if (type.hasOffsets()) {
            offsets.addInt(0);
        }
        if (type.layout() == Layout.NESTED) {
            itemOffsets.addInt(0);
        }
    }

    /** Returns the column's description. */
    public ArrowField field() {
        return field;
    }

    /** Returns the number of rows so far. */
    public int rows() {
        return rows;
    }

    /**
     * Appends to an integer, bool (0, 1), timestamp, date or time column, or appends a categorical id. Unsigned 64-bit
     * values are given as the same bits.
     */
    public void appendLong(long value) {
        if (type == ScalarType.BOOL) {
            checks.range(value, 0, 1);
            appendBit(value == 1);
            return;
        }
        if (type instanceof ScalarType scalar) {
            checks.integer(scalar, value);
        } else if (type instanceof TimeType time) {
            checks.range(value, 0, time.unit().perDay() - 1);
        } else if (!(type instanceof TimestampType)) {
            throw checks.wrongKind("an integer");
        }
        values.addNumber(value, type.width());
        valid();
    }

    /** Appends a bool. */
    public void appendBoolean(boolean value) {
        appendLong(value ? 1 : 0);
    }

    /** Appends a floating-point number, rounded to the nearest value, ties to even. It must not become infinite. */
    public void appendDouble(double value) {
        if (!(type instanceof ScalarType scalar) || !scalar.isFloat()) {
            throw checks.wrongKind("a floating-point number");
        }
        checks.magnitude(scalar, value);
        values.addNumber(NumberBytes.bits(scalar, value), scalar.width());
        valid();
    }

    /** Appends the bits of a floating-point number, in the least significant bits of the argument. */
    public void appendBits(long bits) {
        if (!(type instanceof ScalarType scalar) || !scalar.isFloat()) {
            throw checks.wrongKind("a floating-point number");
        }
        values.addNumber(bits, scalar.width());
        valid();
    }

    /** Appends a decimal number. It must fit the type without rounding. */
    public void appendDecimal(BigDecimal value) {
        if (!(type instanceof DecimalType decimal)) {
            throw checks.wrongKind("a decimal number");
        }
        BigInteger unscaled;
        try {
            unscaled = decimal.unscaled(value);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("column " + field.name() + ": " + e.getMessage(), e);
        }
        values.addLong(unscaled.longValue());
        values.addLong(unscaled.shiftRight(64).longValue());
        valid();
    }

    /** Appends text to a utf8 column. */
    public void appendString(String value) {
        if (type != ScalarType.UTF8) {
            throw checks.wrongKind("text");
        }
        values.add(checks.encoded(value));
        variable();
    }

    /** Appends a list of texts to a column of {@code utf8[]} or {@code utf8?[]}, which may have null items. */
    public void appendStrings(List<? extends @Nullable String> items) {
        if (checks.itemType() != ScalarType.UTF8) {
            throw checks.wrongKind("a list of texts");
        }
        appendItems(checks.encoded(items));
    }

    /**
     * Appends a list of items to a column whose type has {@link FieldType#items}. An item is the bytes of a text, a
     * byte string or a number, or the little-endian elements of a list of numbers. Null items must be allowed by the
     * type.
     */
    public void appendItems(List<? extends @Nullable ByteBuffer> items) {
        checks.items(items);
        for (ByteBuffer item : items) {
            addItem(item);
        }
        variable();
    }

    private void addItem(@Nullable ByteBuffer item) {
        if (nullItems) {
            itemValidity.add(item != null);
        }
        if (item != null) {
            values.add(item);
        } else if (type.layout() == Layout.LIST) {
            values.addZeros(type.width());
        }
        if (type.layout() == Layout.NESTED) {
            itemOffsets.addInt(values.length() / type.width());
        }
    }

    /**
     * Appends a value's bytes: utf8, binary, fixed-size binary, the 16 little-endian bytes of an unscaled decimal, or
     * the little-endian elements of a list or tensor.
     */
    public void appendBytes(ByteBuffer bytes) {
        checks.bytes(bytes.remaining());
        if (type == ScalarType.UTF8) {
            checks.utf8(bytes);
        } else if (type instanceof DecimalType decimal) {
            checks.decimal(decimal, bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN));
        }
        values.add(bytes);
        variable();
    }

    /** Appends a value's bytes like {@link #appendBytes(ByteBuffer)}. */
    public void appendBytes(byte[] bytes) {
        appendBytes(ByteBuffer.wrap(bytes));
    }

    /** Appends a list of int32. */
    public void appendInts(int... elements) {
        if (!type.equals(new ListType(ScalarType.INT32))) {
            throw checks.wrongKind("a list of int32");
        }
        for (int element : elements) {
            values.addInt(element);
        }
        variable();
    }

    /** Appends a value of another column of this type, bit for bit, or null if that value is null. */
    public void appendFrom(ArrowColumn source, int row) {
        if (!source.field().type().equals(type)) {
            throw checks.wrongKind(source.field().type().toString());
        }
        if (source.isNull(row)) {
            appendNull();
        } else if (type == ScalarType.BOOL) {
            appendBit(source.booleanAt(row));
        } else if (checks.itemType() != null) {
            for (int item = 0; item < source.itemCount(row); item++) {
                addItem(source.isNullItem(row, item) ? null : source.itemAt(row, item));
            }
            variable();
        } else {
            values.add(source.bytesAt(row));
            variable();
        }
    }

    /**
     * Appends values of a fixed width. The column must be nullable if one of them is null.
     *
     * @param source values of this type, see {@link FixedValues#isAnyPatternValid}
     * @param first first row of the source
     * @param count number of rows
     */
    public void appendFixed(FixedValues source, int first, int count) {
        if (!FixedValues.isAnyPatternValid(type)) {
            throw checks.wrongKind("a number of which each bit pattern is valid");
        }
        if (source.hasNull(first, count)) {
            if (!field.nullable()) {
                throw checks.notNullable();
            }
            nulls += Bits.append(validity, rows, Objects.requireNonNull(source.validity()), first, count);
        } else {
            Bits.appendOnes(validity, rows, count);
        }
        values.add(source.bytes(), source.offset() + first * type.width(), count * type.width());
        rows += count;
    }

    /**
     * Appends text to a utf8 column.
     *
     * @param texts the texts, one after the other; the caller knows that they are UTF-8
     * @param ends end of each text in the array
     * @param first index of the first text
     * @param count number of texts
     */
    public void appendTexts(byte[] texts, int[] ends, int first, int count) {
        if (type != ScalarType.UTF8) {
            throw checks.wrongKind("text");
        }
        int from = first == 0 ? 0 : ends[first - 1];
        int base = values.length() - from;
        values.add(texts, from, ends[first + count - 1] - from);
        for (int i = first; i < first + count; i++) {
            offsets.addInt(base + ends[i]);
        }
        Bits.appendOnes(validity, rows, count);
        rows += count;
    }

    /** Appends null. The column must be nullable. */
    public void appendNull() {
        if (!field.nullable()) {
            throw checks.notNullable();
        }
        switch (type.layout()) {
            case BITS -> Bits.append(values, rows, false);
            case FIXED, TENSOR -> values.addZeros(type.width());
            case BYTES, LIST, NESTED -> offsets.addInt(end());
        }
        Bits.append(validity, rows, false);
        nulls++;
        rows++;
    }

    /** Removes the rows from this one on. */
    public void truncate(int toRows) {
        if (toRows < 0 || toRows > rows) {
            throw new IllegalArgumentException(toRows + " rows are not between 0 and " + rows);
        }
        for (int row = toRows; row < rows && nulls > 0; row++) {
            nulls -= Bits.isSet(validity, row) ? 0 : 1;
        }
        Bits.truncate(validity, toRows);
        switch (type.layout()) {
            case BITS -> Bits.truncate(values, toRows);
            case FIXED, TENSOR -> values.truncate(toRows * type.width());
            case BYTES, LIST -> {
                offsets.truncate(4 * (toRows + 1));
                int items = offsets.getInt(4 * toRows);
                itemValidity.truncate(items);
                values.truncate(items * type.width());
            }
            case NESTED -> {
                offsets.truncate(4 * (toRows + 1));
                int items = offsets.getInt(4 * toRows);
                itemValidity.truncate(items);
                itemOffsets.truncate(4 * (items + 1));
                values.truncate(itemOffsets.getInt(4 * items) * type.width());
            }
        }
        rows = toRows;
    }

    /** Returns the bytes of all buffers, without padding. */
    public long byteLength() {
        long bits = nulls == 0 ? 0 : validity.length();
        return bits + itemValidity.buffer().remaining() + offsets.length() + itemOffsets.length() + values.length();
    }

    /**
     * Returns the bytes of the last row's value, with 4 bytes for each item in the layout NESTED and a bit for each
     * item that may be null; 0 for bool and for null values of variable length.
     */
    public int lastLength() {
        int bits = nullItems ? ItemValidity.bytes(offsets.getInt(4 * rows) - offsets.getInt(4 * rows - 4)) : 0;
        return bits + lastValueLength();
    }

    private int lastValueLength() {
        return switch (type.layout()) {
            case BITS -> 0;
            case FIXED, TENSOR -> type.width();
            case BYTES, LIST -> (offsets.getInt(4 * rows) - offsets.getInt(4 * rows - 4)) * type.width();
            case NESTED -> {
                int last = offsets.getInt(4 * rows);
                int first = offsets.getInt(4 * rows - 4);
                int units = itemOffsets.getInt(4 * last) - itemOffsets.getInt(4 * first);
                yield units * type.width() + 4 * (last - first);
            }
        };
    }

    /** Returns whether a row is null. */
    public boolean hasNulls() {
        return nulls > 0;
    }

    public int nullCount() {
        return nulls;
    }

    /** Returns the number of null items. */
    int nullItems() {
        return itemValidity.nulls();
    }

    /** Returns the number of items of all rows in the layout NESTED; 0 in others. */
    int items() {
        return Math.max(0, itemOffsets.length() / 4 - 1);
    }

    /** Returns the column's buffers in Arrow's order. They are shared with this builder. */
    ByteBuffer[] buffers() {
        ByteBuffer none = ByteBuffer.allocate(0);
        ByteBuffer valid = nulls == 0 ? none : validity.buffer();
        return switch (type.layout()) {
            case BITS, FIXED -> new ByteBuffer[] {valid, values.buffer()};
            case BYTES -> new ByteBuffer[] {valid, offsets.buffer(), values.buffer()};
            case LIST -> new ByteBuffer[] {valid, offsets.buffer(), itemValidity.buffer(), values.buffer()};
            case NESTED ->
                RecordBatchLayout.hasElements(type)
                        ? new ByteBuffer[] {valid, offsets.buffer(), none, itemOffsets.buffer(), none, values.buffer()}
                        : new ByteBuffer[] {
                            valid, offsets.buffer(), itemValidity.buffer(), itemOffsets.buffer(), values.buffer()
                        };
            case TENSOR -> new ByteBuffer[] {valid, none, values.buffer()};
        };
    }

    private void appendBit(boolean value) {
        Bits.append(values, rows, value);
        valid();
    }

    private void variable() {
        if (nullItems) {
            itemValidity.fill(end());
        }
        if (type.hasOffsets()) {
            offsets.addInt(end());
        }
        valid();
    }

    /** Returns the offset behind the last value. */
    private int end() {
        return type.layout() == Layout.NESTED ? items() : values.length() / type.width();
    }

    private void valid() {
        Bits.append(validity, rows, true);
        rows++;
    }
}
