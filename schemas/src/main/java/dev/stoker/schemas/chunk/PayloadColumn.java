package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.arrow.ScalarType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Payload bytes of one field, in segments that never move, with the places and sums of the values. One thread at a
 * time.
 */
final class PayloadColumn {
    private static final int INITIAL_ROWS = 64;

    private final Field field;
    private final int segmentBytes;
    private final List<ByteBuffer> segments = new ArrayList<>();
    private final CRC32C crc = new CRC32C();
    /** Null unless the field is utf8. */
    private final Utf8Check utf8;
    /** Segments from 0 to this one hold bytes; a segment's position is the end of its bytes. */
    private int current = -1;

    private int rows;
    private long[] ends = new long[INITIAL_ROWS];
    private int[] crcs = new int[INITIAL_ROWS];
    private long end;

    private ByteBuffer reserved;
    private int rowSegment;
    private int rowPosition;

    PayloadColumn(Field field, int segmentBytes) {
        this.field = field;
        this.segmentBytes = segmentBytes;
        this.utf8 = field.type() == ScalarType.UTF8 ? new Utf8Check() : null;
    }

    /** Remembers where the row's value will begin. */
    void beginRow() {
        rowSegment = current;
        rowPosition = current < 0 ? 0 : segments.get(current).position();
        crc.reset();
        if (utf8 != null) {
            utf8.reset();
        }
        reserved = null;
    }

    /** Takes back what was added since {@link #beginRow}. */
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

    /** Copies bytes behind what the row has so far; the buffer's position moves to its limit. */
    void add(ByteBuffer bytes) {
        int length = bytes.remaining();
        reserve(length).put(bytes);
        commit(length);
    }

    /** Bytes free in the open segment, for values that need not lie in one segment. */
    int room() {
        return current < 0 ? segmentBytes : segments.get(current).remaining();
    }

    /** Bytes that the row has so far. */
    long rowLength() {
        return end - (rows == 0 ? 0 : ends[rows - 1]);
    }

    /** Whether the row's bytes so far are complete UTF-8; only for a utf8 field. */
    boolean isUtf8() {
        return utf8.isComplete();
    }

    void endRow() {
        if (rows == ends.length) {
            ends = Arrays.copyOf(ends, rows * 2);
            crcs = Arrays.copyOf(crcs, rows * 2);
        }
        ends[rows] = end;
        crcs[rows] = (int) crc.getValue();
        rows++;
    }

    Field field() {
        return field;
    }

    long bytes() {
        return end;
    }

    int crc(int row) {
        return crcs[row];
    }

    long length(int row) {
        return ends[row] - (row == 0 ? 0 : ends[row - 1]);
    }

    /** The offsets buffer, or null for a type without one. */
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

    /** Views of all bytes, in order. */
    List<ByteBuffer> slices() {
        List<ByteBuffer> slices = new ArrayList<>();
        for (int s = 0; s <= current; s++) {
            if (segments.get(s).position() > 0) {
                slices.add(segments.get(s).duplicate().flip());
            }
        }
        return slices;
    }

    /** Forgets the values; keeps segments of the usual size. */
    void reset() {
        segments.removeIf(segment -> segment.capacity() != segmentBytes);
        segments.forEach(ByteBuffer::clear);
        current = -1;
        rows = 0;
        end = 0;
        reserved = null;
    }

    /** Makes a segment with so much room the current one: the next one kept from before if it fits, or a new one. */
    private void open(int upTo) {
        int next = current + 1;
        if (next == segments.size() || segments.get(next).capacity() < upTo) {
            segments.add(next, ByteBuffer.allocateDirect(Math.max(upTo, segmentBytes)));
        }
        current = next;
    }
}
