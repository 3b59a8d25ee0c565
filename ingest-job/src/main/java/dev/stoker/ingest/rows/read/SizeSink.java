package dev.stoker.ingest.rows.read;

import dev.stoker.formats.ValueSink;
import dev.stoker.schemas.arrow.types.FieldType;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Adds up the bytes of values of variable length. For one thread. */
public final class SizeSink implements ValueSink {
    private long bytes;
    private boolean hasNullItems;
    private boolean hasNull;
    private boolean takesNullItems = true;

    /** Begins a row. */
    public SizeSink begin() {
        bytes = 0;
        hasNull = false;
        return this;
    }

    /** Takes what a field of a type takes; without a type, everything. */
    public SizeSink of(FieldType type) {
        takesNullItems = type.hasNullItems();
        return this;
    }

    public long bytes() {
        return bytes;
    }

    /** Returns whether a value of the row is null. */
    public boolean hasNull() {
        return hasNull;
    }

    /** Returns whether a list since the last call had a null item. */
    public boolean hadNullItems() {
        boolean had = hasNullItems;
        hasNullItems = false;
        return had;
    }

    @Override
    public void setBytes(ByteBuffer value) {
        bytes += value.remaining();
    }

    @Override
    public void setBytesList(List<ByteBuffer> items) {
        for (ByteBuffer item : items) {
            bytes += 4L + item.remaining();
        }
    }

    @Override
    public boolean takesNullItems() {
        return takesNullItems;
    }

    @Override
    public void setItems(List<? extends @Nullable ByteBuffer> items) {
        hasNullItems = true;
        for (ByteBuffer item : items) {
            bytes += 4L + (item == null ? 0 : item.remaining());
        }
    }

    @Override
    public void setLists(ByteBuffer items, int[] lengths) {
        bytes += items.remaining() + 4L * lengths.length;
    }

    @Override
    public void setNull() {
        hasNull = true;
    }

    @Override
    public void setLong(long value) {}

    @Override
    public void setDouble(double value) {}

    @Override
    public void setDecimal(BigDecimal value) {}
}
