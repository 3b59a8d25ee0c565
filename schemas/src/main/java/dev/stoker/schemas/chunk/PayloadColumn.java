package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.ColumnBuilder;
import dev.stoker.schemas.arrow.NullRows;
import dev.stoker.schemas.arrow.RecordBatchLayout;
import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.crc.ConcatCrc;
import dev.stoker.schemas.values.Utf8Check;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Collects payload bytes of one field in segments that never move, with the positions and checksums of the values. Not
 * thread-safe.
 */
final class PayloadColumn {
    private static final int INITIAL_ROWS = 64;
    private static final int STREAM_BYTES = 64 << 10;

    private final Field field;
    private final int segmentBytes;
    private final List<ByteBuffer> segments = new ArrayList<>();
    private final CRC32C crc = new CRC32C();
    private final NullRows nulls = new NullRows();
    /** Null unless the field is utf8. */
    private final @Nullable Utf8Check utf8;
    /** Segments from 0 to this one contain bytes. A segment's position is the end of its bytes. */
    private int current = -1;

    private int rows;
    private long[] ends = new long[INITIAL_ROWS];
    private int[] crcs = new int[INITIAL_ROWS];
    private long end;

    private boolean isNull;
    private @Nullable ByteBuffer reserved;
    private byte @Nullable [] streamBuffer;
    private int rowSegment;
    private int rowPosition;

    PayloadColumn(Field field, int segmentBytes) {
        this.field = field;
        this.segmentBytes = segmentBytes;
        this.utf8 = field.type() == ScalarType.UTF8 ? new Utf8Check() : null;
    }

    /** Records the start of the row's value. */
    void beginRow() {
        rowSegment = current;
        rowPosition = current < 0 ? 0 : segments.get(current).position();
        crc.reset();
        if (utf8 != null) {
            utf8.reset();
        }
        reserved = null;
        isNull = false;
    }

    /** Makes the row's value null: no bytes in a type of varying length, zeros in a tensor. */
    void setNull() {
        isNull = true;
        if (!field.type().hasOffsets()) {
            add(ByteBuffer.allocate(field.type().width()));
        }
    }

    /** Removes the bytes that were added since {@link #beginRow}. */
    void abandonRow() {
        for (int s = Math.max(0, rowSegment + 1); s <= current; s++) {
            segments.get(s).clear();
        }
        current = rowSegment;
        if (current >= 0) {
            segments.get(current).position(rowPosition);
        }
        end = rows == 0 ? 0 : ends[rows - 1];
        reserved = null;
    }

    ByteBuffer reserve(int upTo) {
        if (current < 0 || segments.get(current).remaining() < upTo) {
            open(upTo);
        }
        ByteBuffer segment = segments.get(current);
        reserved = segment.slice(segment.position(), upTo);
        return reserved;
    }

    void commit(int length) {
        if (reserved == null || length < 0 || length > reserved.capacity()) {
            throw new IllegalStateException("field '" + field.name() + "': " + length + " bytes are committed, "
                    + (reserved == null ? "none" : reserved.capacity()) + " were reserved");
        }
        crc.update(reserved.clear().limit(length));
        if (utf8 != null) {
            utf8.update(reserved.flip());
        }
        ByteBuffer segment = segments.get(current);
        segment.position(segment.position() + length);
        end += length;
        reserved = null;
    }

    /** Appends bytes to the row. The buffer's position moves to its limit. */
    void add(ByteBuffer bytes) {
        int length = bytes.remaining();
        reserve(length).put(bytes);
        commit(length);
    }

    /**
     * Appends a stream to its end, as the value of the row.
     *
     * @return number of bytes of the row
     * @throws IllegalArgumentException if the value is longer than the limit, or is no text and must be
     */
    long add(String key, InputStream in, long limit) throws IOException {
        if (streamBuffer == null) {
            streamBuffer = new byte[STREAM_BYTES];
        }
        for (int n = in.read(streamBuffer); n >= 0; n = in.read(streamBuffer)) {
            checkTotal(key, n, limit);
            add(ByteBuffer.wrap(streamBuffer, 0, n));
        }
        checkValue(key);
        return rowLength();
    }

    /** Appends the bytes of a blocking channel to its end, directly into place; otherwise as from a stream. */
    long add(String key, ReadableByteChannel in, long limit) throws IOException {
        while (true) {
            // A value may span segments.
            int room = current < 0 ? segmentBytes : segments.get(current).remaining();
            int n = in.read(reserve(room == 0 ? STREAM_BYTES : room));
            commit(Math.max(0, n));
            if (n < 0) {
                checkValue(key);
                return rowLength();
            }
            checkTotal(key, 0, limit);
        }
    }

    /** Returns the bytes of the row so far. */
    long rowLength() {
        return end - (rows == 0 ? 0 : ends[rows - 1]);
    }

    /** Rejects a value of more than 1 GiB with an IllegalArgumentException that names the sample. */
    void checkLength(String key, long length) {
        if (length > ChunkLayout.MAX_PAYLOAD) {
            throw refused(key, length + " bytes; 1 GiB is the limit; leave it out or split it");
        }
    }

    /** Rejects a value longer than a limit with an IllegalArgumentException that names the sample. */
    private void checkTotal(String key, long more, long limit) {
        long total = rowLength() + more;
        if (total > limit) {
            throw refused(key, "more than " + limit + " bytes; leave it out or raise the limit");
        }
        checkLength(key, total);
    }

    /**
     * Rejects bytes that are not a value of the field's type with an IllegalArgumentException that names the sample.
     */
    void checkValue(String key) {
        FieldType type = field.type();
        long length = rowLength();
        if (utf8 != null && !utf8.isComplete()) {
            throw refused(key, "the bytes are not UTF-8; make the field binary or convert the text");
        }
        boolean fits = type.hasOffsets() ? length % type.width() == 0 : length == type.width();
        if (!fits) {
            throw refused(key, length + " bytes are no value of type " + type);
        }
    }

    private IllegalArgumentException refused(String key, String why) {
        return new IllegalArgumentException("sample '" + key + "', field '" + field.name() + "': " + why);
    }

    void endRow() {
        if (rows == ends.length) {
            ends = Arrays.copyOf(ends, rows * 2);
            crcs = Arrays.copyOf(crcs, rows * 2);
        }
        ends[rows] = end;
        crcs[rows] = (int) crc.getValue();
        if (isNull) {
            nulls.add(rows);
        }
        rows++;
    }

    Field field() {
        return field;
    }

    long bytes() {
        return end;
    }

    NullRows nulls() {
        return nulls;
    }

    /** Returns the values' checksums as a column. */
    ColumnBuilder sums() {
        ColumnBuilder sums = new ColumnBuilder(ArrowField.of(ChunkLayout.CRC_PREFIX + field.name(), ScalarType.UINT32));
        for (int row = 0; row < rows; row++) {
            sums.appendLong(crcs[row] & 0xFFFFFFFFL);
        }
        return sums;
    }

    /** Returns the offsets buffer, or null for a type without one. */
    @Nullable
    ByteBuffer offsets() {
        if (!field.type().hasOffsets()) {
            return null;
        }
        int width = field.type().width();
        ByteBuffer offsets = ByteBuffer.allocate(4 * (rows + 1)).order(ByteOrder.LITTLE_ENDIAN);
        offsets.putInt(0);
        for (int row = 0; row < rows; row++) {
            offsets.putInt((int) (ends[row] / width));
        }
        return offsets.flip();
    }

    /**
     * Adds views of all bytes and of the padding after them, and their checksum, which follows from the values'
     * checksums.
     */
    void appendTo(List<ByteBuffer> buffers, ConcatCrc sum) {
        for (int s = 0; s <= current; s++) {
            if (segments.get(s).position() > 0) {
                buffers.add(segments.get(s).duplicate().flip());
            }
        }
        for (int row = 0; row < rows; row++) {
            sum.add(crcs[row], ends[row] - (row == 0 ? 0 : ends[row - 1]));
        }
        int padding = (int) (RecordBatchLayout.align(end) - end);
        if (padding > 0) {
            buffers.add(ByteBuffer.allocate(padding));
            sum.addZeros(padding);
        }
    }

    /** Removes the values. Keeps segments of the usual size. */
    void reset() {
        segments.removeIf(segment -> segment.capacity() != segmentBytes);
        segments.forEach(ByteBuffer::clear);
        current = -1;
        rows = 0;
        nulls.clear();
        end = 0;
        reserved = null;
    }

    /** Selects a segment with at least this space: the next retained one if it fits, or a new one. */
    private void open(int upTo) {
        int next = current + 1;
        if (next == segments.size() || segments.get(next).capacity() < upTo) {
            segments.add(next, ByteBuffer.allocateDirect(Math.max(upTo, segmentBytes)));
        }
        current = next;
    }
}
