package dev.stoker.ingest.rows.pack;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.schemas.arrow.types.FieldType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The values of a row as bytes, for the sort. Per field: u8 kind, then nothing for a null, 8 bytes for a number, i32
 * length and bytes otherwise; a null item of a list has the length -1. Little-endian. For one thread.
 */
final class RowBytes implements ValueSink {
    private static final byte NULL = 0;
    private static final byte LONG = 1;
    private static final byte DOUBLE = 2;
    private static final byte BYTES = 3;
    private static final byte DECIMAL = 4;
    private static final byte BYTES_LIST = 5;
    private static final byte LISTS = 6;
    private static final byte NULLABLE_ITEMS = 7;
    private static final int NULL_ITEM = -1;

    private final HeldRows.@Nullable Writer held;
    private ByteBuffer heap = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);

    /** The memory of the present row: {@link #heap}, or memory of {@link #held}. */
    private ByteBuffer buffer = heap;

    /** Where the row begins in it. */
    private int start;

    /** Whether the present row is in memory of {@link #held}. */
    private boolean isHeld;

    RowBytes() {
        held = null;
    }

    /** @param held memory for rows that {@link #hold} keeps */
    RowBytes(HeldRows held) {
        this.held = held.new Writer();
    }

    private boolean takesNullItems;

    /** Begins a row. */
    void begin() {
        ByteBuffer kept = held == null ? null : held.begin();
        isHeld = kept != null;
        buffer = kept == null ? heap.clear() : kept;
        start = buffer.position();
    }

    /** Returns the length of the row. */
    int length() {
        return buffer.position() - start;
    }

    /** Keeps the row where it is and returns the place; empty if {@link #take} must copy it. Call it once. */
    Optional<HeldRows.Place> hold() {
        if (held == null || !isHeld) {
            return Optional.empty();
        }
        ByteBuffer row = buffer.slice(start, length());
        Optional<HeldRows.Place> place = held.end();
        if (place.isEmpty()) {
            heap = heap(row.remaining());
            buffer = heap.put(row);
            isHeld = false;
            start = 0;
        }
        return place;
    }

    /**
     * Prepares for the next value.
     *
     * @param type of its field
     */
    RowBytes of(FieldType type) {
        takesNullItems = type.hasNullItems();
        return this;
    }

    /** Returns the row's bytes. */
    byte[] take() {
        byte[] bytes = new byte[length()];
        buffer.get(start, bytes);
        if (heap.capacity() > 64 << 20) {
            heap = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
        }
        return bytes;
    }

    private ByteBuffer room(long bytes) throws BadValueException {
        if (buffer.position() + bytes + 16 > buffer.capacity()) {
            long needed = length() + bytes + 16;
            if (needed > Integer.MAX_VALUE - 64) {
                throw new BadValueException("the row has more than 2 GiB");
            }
            ByteBuffer row = buffer.slice(start, length());
            ByteBuffer larger = held == null || !isHeld ? null : held.next((int) needed);
            if (larger == null) {
                heap = heap(needed);
                larger = heap;
                isHeld = false;
            }
            buffer = larger.put(row);
            start = 0;
        }
        return buffer;
    }

    private ByteBuffer heap(long needed) {
        if (needed <= heap.capacity()) {
            return heap.clear();
        }
        long grown = Math.min(Integer.MAX_VALUE - 64L, Math.max(2L * heap.capacity(), needed));
        return ByteBuffer.allocate((int) grown).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void setNull() throws BadValueException {
        room(1).put(NULL);
    }

    @Override
    public void setLong(long value) throws BadValueException {
        room(9).put(LONG).putLong(value);
    }

    @Override
    public void setDouble(double value) throws BadValueException {
        room(9).put(DOUBLE).putDouble(value);
    }

    @Override
    public void setDecimal(BigDecimal value) throws BadValueException {
        byte[] digits = value.unscaledValue().toByteArray();
        room(9L + digits.length)
                .put(DECIMAL)
                .putInt(value.scale())
                .putInt(digits.length)
                .put(digits);
    }

    @Override
    public void setBytes(ByteBuffer bytes) throws BadValueException {
        room(5L + bytes.remaining()).put(BYTES).putInt(bytes.remaining()).put(bytes.duplicate());
    }

    @Override
    public void setBytesList(List<ByteBuffer> items) throws BadValueException {
        long bytes = items.stream().mapToLong(item -> 4L + item.remaining()).sum();
        room(5L + bytes).put(BYTES_LIST).putInt(items.size());
        for (ByteBuffer item : items) {
            buffer.putInt(item.remaining()).put(item.duplicate());
        }
    }

    @Override
    public boolean takesNullItems() {
        return takesNullItems;
    }

    @Override
    public void setItems(List<? extends @Nullable ByteBuffer> items) throws BadValueException {
        long bytes = 0;
        for (ByteBuffer item : items) {
            bytes += 4L + (item == null ? 0 : item.remaining());
        }
        room(5L + bytes).put(NULLABLE_ITEMS).putInt(items.size());
        for (ByteBuffer item : items) {
            if (item == null) {
                buffer.putInt(NULL_ITEM);
            } else {
                buffer.putInt(item.remaining()).put(item.duplicate());
            }
        }
    }

    @Override
    public void setLists(ByteBuffer items, int[] lengths) throws BadValueException {
        room(9L + 4L * lengths.length + items.remaining()).put(LISTS).putInt(lengths.length);
        for (int length : lengths) {
            buffer.putInt(length);
        }
        buffer.putInt(items.remaining()).put(items.duplicate());
    }

    /** Reads the values of a row again, one after the other. */
    static final class Reader {
        private final ByteBuffer data;

        Reader(ByteBuffer bytes) {
            data = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
        }

        /** Gives the next value. */
        void next(ValueSink sink) throws BadValueException {
            switch (data.get()) {
                case NULL -> sink.setNull();
                case LONG -> sink.setLong(data.getLong());
                case DOUBLE -> sink.setDouble(data.getDouble());
                case BYTES -> sink.setBytes(slice(data.getInt()));
                case DECIMAL -> {
                    int scale = data.getInt();
                    byte[] digits = new byte[data.getInt()];
                    data.get(digits);
                    sink.setDecimal(new BigDecimal(new BigInteger(digits), scale));
                }
                case BYTES_LIST -> {
                    List<ByteBuffer> items = new ArrayList<>();
                    for (int count = data.getInt(); count > 0; count--) {
                        items.add(slice(data.getInt()));
                    }
                    sink.setBytesList(items);
                }
                case NULLABLE_ITEMS -> {
                    List<@Nullable ByteBuffer> items = new ArrayList<>();
                    for (int count = data.getInt(); count > 0; count--) {
                        int length = data.getInt();
                        items.add(length == NULL_ITEM ? null : slice(length));
                    }
                    sink.setItems(items);
                }
                default -> {
                    int[] lengths = new int[data.getInt()];
                    for (int i = 0; i < lengths.length; i++) {
                        lengths[i] = data.getInt();
                    }
                    sink.setLists(slice(data.getInt()), lengths);
                }
            }
        }

        private ByteBuffer slice(int length) {
            ByteBuffer slice = data.slice(data.position(), length);
            data.position(data.position() + length);
            return slice;
        }
    }
}
