package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.ColumnBuilder;
import dev.stoker.schemas.arrow.types.Field;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Collects samples and builds a chunk from them. Copies payload once (or reads it directly into place) and computes its
 * checksum once. Start a row with {@link #beginRow}, set its fields in any order, and end or abandon it. After an
 * exception from a setter, the row must be abandoned. Memory: the payload so far, rounded up to segments, and the small
 * fields. Not thread-safe. Can be reused after {@link #reset}.
 */
public final class ChunkBuilder {
    private final ChunkLayout layout;
    private final ChunkColumns columns;
    private final ColumnBuilder keys;
    private final ColumnBuilder[] small;
    private final PayloadColumn[] payload;
    private final ClassNames[] classes;
    private final boolean[] set;
    private final LargestRow largest;
    private boolean inRow;
    private String key = "";

    /**
     * Creates an empty chunk of a dataset.
     *
     * @param fields fields in dataset order: small fields first
     * @param segmentBytes size of the direct buffers for payload (divided among the payload fields), or of a sample if
     *     it is larger; the target size of a chunk is a good choice
     */
    public ChunkBuilder(List<Field> fields, int segmentBytes) {
        this.layout = new ChunkLayout(fields);
        this.columns = new ChunkColumns(layout, segmentBytes);
        this.keys = columns.keys();
        this.small = columns.small();
        this.payload = columns.payload();
        this.classes = columns.classes();
        this.set = new boolean[fields.size()];
        this.largest = new LargestRow(columns);
    }

    /** Begins a row. The key must not be empty. */
    public void beginRow(String sampleKey) {
        if (inRow) {
            throw new IllegalStateException("row '" + key + "' is neither ended nor abandoned");
        }
        if (sampleKey.isEmpty()) {
            throw new IllegalArgumentException("a sample's key must not be empty");
        }
        keys.appendString(sampleKey);
        key = sampleKey;
        inRow = true;
        for (int f = 0; f < set.length; f++) {
            set[f] = false;
        }
        for (PayloadColumn column : payload) {
            column.beginRow();
        }
        for (ClassNames names : classes) {
            if (names != null) {
                names.mark();
            }
        }
    }

    /** Sets an integer, bool, timestamp, date or time of day, in the units of the type. */
    public void setLong(int field, long value) {
        if (classes[field] != null) {
            throw new IllegalArgumentException(
                    "field '" + layout.fields().get(field).name() + "' is categorical; it is set by class name");
        }
        column(field).appendLong(value);
    }

    /** Sets a floating-point number. */
    public void setDouble(int field, double value) {
        column(field).appendDouble(value);
    }

    /**
     * Sets a decimal number. {@link #setBytes(int, ByteBuffer)} sets the 16 bytes of an unscaled one.
     *
     * @throws IllegalArgumentException if the number does not fit the type without rounding
     */
    public void setDecimal(int field, BigDecimal value) {
        column(field).appendDecimal(value);
    }

    /** Sets a list of texts, {@code utf8[]} or {@code utf8?[]}, which may have null items. */
    public void setStrings(int field, List<? extends @Nullable String> items) {
        column(field).appendStrings(items);
    }

    /**
     * Sets a list of items: {@code utf8[]}, {@code binary[]}, a list of lists such as {@code int32[][]}, or a list with
     * null items such as {@code int32?[]}. Copies the remaining bytes of the items.
     *
     * @param items for a list of lists, each item contains the little-endian elements of a list; for numbers with null
     *     items, each item contains one little-endian number
     */
    public void setItems(int field, List<? extends @Nullable ByteBuffer> items) {
        column(field).appendItems(items);
    }

    /**
     * Sets a categorical field by its class name.
     *
     * @throws IllegalArgumentException if the name has an unpaired surrogate or more than 65,535 bytes of UTF-8
     */
    public void setClass(int field, String name) {
        if (classes[field] == null) {
            throw new IllegalArgumentException(
                    "field '" + layout.fields().get(field).name() + "' is not categorical");
        }
        int id = classes[field].idOf(name);
        column(field).appendLong(id);
    }

    /** Sets text of a small or payload field. */
    public void setString(int field, String value) {
        if (field < small.length) {
            column(field).appendString(value);
        } else {
            setBytes(field, utf8(field, value));
        }
    }

    private ByteBuffer utf8(int field, String value) {
        try {
            return StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(value));
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(
                    "field '" + layout.fields().get(field).name() + "': the text has half a surrogate pair", e);
        }
    }

    /**
     * Sets the bytes of a utf8, binary, list, tensor or decimal field, small or payload. Copies the remaining bytes of
     * the buffer.
     */
    public void setBytes(int field, ByteBuffer bytes) {
        if (field < small.length) {
            column(field).appendBytes(bytes);
        } else {
            PayloadColumn column = payloadColumn(field);
            column.checkLength(key, bytes.remaining());
            column.add(bytes.duplicate());
            column.checkValue(key);
        }
    }

    /** Sets a small field to the value of a row of another chunk, bit for bit; sets a class by its name. */
    public void setFrom(int field, ChunkHead source, int row) {
        setFrom(field, source, field, row);
    }

    /** Sets a small field to the value of a field of the same type in a row of a chunk. */
    public void setFrom(int field, ChunkHead source, int sourceField, int row) {
        ArrowColumn values = source.column(sourceField);
        if (classes[field] != null && !values.isNull(row)) {
            setClass(field, source.classes(sourceField).get(values.intAt(row)));
        } else {
            column(field).appendFrom(values, row);
        }
    }

    /** Sets the field to null. A nullable field that is not set is also null. */
    public void setNull(int field) {
        if (field < small.length) {
            column(field).appendNull();
            return;
        }
        if (!layout.fields().get(field).nullable()) {
            throw new IllegalArgumentException(
                    "field '" + layout.fields().get(field).name() + "' is not nullable");
        }
        payloadColumn(field).setNull();
    }

    /**
     * Reserves space for a payload value. Fill it from index 0 on, then call {@link #commit}. The buffer is valid until
     * then.
     *
     * @param upTo number of bytes, at most 1 GiB and one more, which lets a reader detect the end of a value
     * @return a direct buffer with position 0 and limit {@code upTo}
     */
    public ByteBuffer reserve(int field, int upTo) {
        PayloadColumn column = payload(field);
        // One byte more than a value may have, so a reader can detect the end of the value.
        column.checkLength(key, upTo - 1L);
        return column.reserve(upTo);
    }

    /** Uses the first {@code length} bytes of the last {@link #reserve} as the field's value. */
    public void commit(int field, int length) {
        PayloadColumn column = payloadColumn(field);
        column.checkLength(key, length);
        column.commit(length);
        column.checkValue(key);
    }

    /**
     * Reads a payload value from a stream to its end.
     *
     * @param limit maximum number of bytes, at most 1 GiB; a longer value causes an IllegalArgumentException
     * @return number of bytes read
     */
    public long setBytes(int field, InputStream in, long limit) throws IOException {
        return payloadColumn(field).add(key, in, limit);
    }

    /**
     * Reads a payload value like {@link #setBytes(int, InputStream, long)}, directly into place from a blocking
     * channel.
     */
    public long setBytes(int field, ReadableByteChannel in, long limit) throws IOException {
        return payloadColumn(field).add(key, in, limit);
    }

    /** Ends the row. Throws IllegalStateException if a field is neither set nor nullable. */
    public void endRow() {
        if (!inRow) {
            throw new IllegalStateException("no row was begun");
        }
        for (int f = 0; f < set.length; f++) {
            if (!set[f] && !layout.fields().get(f).nullable()) {
                throw new IllegalStateException("sample '" + key + "' has no value for field '"
                        + layout.fields().get(f).name() + "', which is not nullable");
            }
        }
        for (int f = 0; f < small.length; f++) {
            if (!set[f]) {
                small[f].appendNull();
            }
        }
        for (int p = 0; p < payload.length; p++) {
            if (!set[small.length + p]) {
                payload[p].setNull();
            }
        }
        largest.add();
        for (PayloadColumn column : payload) {
            column.endRow();
        }
        inRow = false;
    }

    /**
     * Adds rows of a block. The dataset must have no payload fields, and no row may be open. After an exception the
     * builder is as before.
     *
     * @param first first row of the block
     * @param count number of rows, at least 1
     * @throws IllegalArgumentException if a value is null and its field is not nullable
     */
    public void addRows(RowBlock block, int first, int count) {
        if (inRow || payload.length > 0) {
            throw new IllegalStateException(inRow ? "row '" + key + "' is open" : "blocks have no payload");
        }
        columns.append(block, first, count);
        largest.add(block.longestKey(first, count));
    }

    /** Returns how many of these rows surely leave {@link #length} within the limit; perhaps a few more do. */
    public int roomFor(RowBlock block, int first, int count, long limit) {
        return columns.roomFor(block, first, count, limit);
    }

    /** Discards the row that was begun, if any. */
    public void abandonRow() {
        if (!inRow) {
            return;
        }
        int rows = rows();
        keys.truncate(rows);
        for (ColumnBuilder column : small) {
            column.truncate(Math.min(rows, column.rows()));
        }
        for (PayloadColumn column : payload) {
            column.abandonRow();
        }
        for (ClassNames names : classes) {
            if (names != null) {
                names.rollBack();
            }
        }
        inRow = false;
    }

    /** Returns the number of ended rows. */
    public int rows() {
        return keys.rows() - (inRow ? 1 : 0);
    }

    /**
     * Returns an upper bound of the file's length if it were finished now. The bound is about a hundred bytes too high.
     */
    public long length() {
        return lengthWith(0);
    }

    /**
     * Returns {@link #length} with one more row.
     *
     * @param rowBytes bytes of its key, small values and payload
     */
    public long lengthWith(long rowBytes) {
        return columns.lengthBound(rows()) + rowBytes;
    }

    /**
     * Finishes the chunk. The chunk refers to this builder's memory, so write it before {@link #reset}. There must be
     * at least one row. Throws IllegalStateException if the file would have 2^31 bytes or more.
     */
    public PackedChunk finish(ChunkIdentity identity) {
        if (inRow || rows() == 0) {
            throw new IllegalStateException(
                    inRow ? "row '" + key + "' is neither ended nor abandoned" : "a chunk has at least one row");
        }
        return columns.finish(identity, largest.bytes());
    }

    /** Starts an empty chunk in the same memory. Discards a row that was begun. */
    public void reset() {
        abandonRow();
        keys.truncate(0);
        for (ColumnBuilder column : small) {
            column.truncate(0);
        }
        for (PayloadColumn column : payload) {
            column.reset();
        }
        for (ClassNames names : classes) {
            if (names != null) {
                names.clear();
            }
        }
        largest.reset();
    }

    private ColumnBuilder column(int field) {
        if (field >= small.length) {
            throw new IllegalArgumentException(
                    "field '" + layout.fields().get(field).name() + "' is payload");
        }
        markSet(field);
        return small[field];
    }

    private PayloadColumn payload(int field) {
        if (!inRow || field < small.length) {
            throw new IllegalArgumentException(
                    "field '" + layout.fields().get(field).name() + "' is not payload, or no row was begun");
        }
        return payload[field - small.length];
    }

    private PayloadColumn payloadColumn(int field) {
        PayloadColumn column = payload(field);
        markSet(field);
        return column;
    }

    private void markSet(int field) {
        if (!inRow || set[field]) {
            throw new IllegalStateException(
                    "field '" + layout.fields().get(field).name() + "' of sample '" + key
                            + "' is set twice, or no row was begun");
        }
        set[field] = true;
    }
}
