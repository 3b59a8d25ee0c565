package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.ArrowField;
import dev.stoker.schemas.arrow.ArrowFooter;
import dev.stoker.schemas.arrow.ArrowHead;
import dev.stoker.schemas.arrow.ArrowSchema;
import dev.stoker.schemas.arrow.ColumnBuilder;
import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.arrow.FieldType;
import dev.stoker.schemas.arrow.RecordBatchLayout;
import dev.stoker.schemas.arrow.RecordBatchParts;
import dev.stoker.schemas.arrow.ScalarType;
import dev.stoker.schemas.crc.ConcatCrc;
import dev.stoker.schemas.crc.Crc32cs;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Collects samples and makes a chunk of them. Payload is copied once (or read straight into place) and summed once.
 * A row is begun with {@link #beginRow}, its fields are set in any order, and it is ended or abandoned; after an
 * exception from a setter it must be abandoned. Memory: the payload so far rounded up to segments, and the small
 * fields. One thread at a time; reusable through {@link #reset}.
 */
public final class ChunkBuilder {
    private static final int STREAM_BYTES = 64 << 10;
    private static final int MIN_SEGMENT = 4096;

    /** Longest identity that {@link #length} reckons with, twice (schema and footer), and padding. */
    private static final int SLACK = 512;

    private final ChunkLayout layout;
    private final ColumnBuilder keys = new ColumnBuilder(ArrowField.of(Field.KEY, ScalarType.UTF8));
    private final ColumnBuilder[] small;
    private final PayloadColumn[] payload;
    private final ClassNames[] classes;
    private final boolean[] set;
    private final long schemaBytes;
    private boolean inRow;
    private String key;
    private long largestRow;
    private byte[] streamBuffer;

    /**
     * An empty chunk of a dataset.
     *
     * @param fields in dataset order: small fields first
     * @param segmentBytes payload memory in all is allocated in direct buffers of this size (shared out between the
     *     payload fields), or of a sample's if it is bigger; the target size of a chunk is a good choice
     */
    public ChunkBuilder(List<Field> fields, int segmentBytes) {
        this.layout = new ChunkLayout(fields);
        this.small = new ColumnBuilder[layout.smallFields()];
        this.payload = new PayloadColumn[layout.payloadFields()];
        this.classes = new ClassNames[fields.size()];
        this.set = new boolean[fields.size()];
        for (int f = 0; f < fields.size(); f++) {
            if (f < small.length) {
                small[f] = new ColumnBuilder(ArrowField.of(fields.get(f)));
            } else {
                int share = Math.max(MIN_SEGMENT, segmentBytes / payload.length);
                payload[f - small.length] = new PayloadColumn(fields.get(f), share);
            }
            if (fields.get(f).type() == ScalarType.CATEGORICAL) {
                classes[f] = new ClassNames();
            }
        }
        ChunkIdentity any =
                new ChunkIdentity(new UUID(0, 0), new UUID(0, 0), "i".repeat(40), "s".repeat(40), Instant.EPOCH);
        ArrowSchema empty = new ChunkSchema(any, layout, classLists()).toArrow();
        this.schemaBytes = ArrowHead.opening(empty).length
                + (long) footer(empty, 0, 0, 0, 0).tail().length;
    }

    /** Begins a row; the key must not be empty. */
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

    /** Sets an integer or bool. */
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

    /** Sets a categorical field by its class name. */
    public void setClass(int field, String name) {
        if (classes[field] == null) {
            throw new IllegalArgumentException(
                    "field '" + layout.fields().get(field).name() + "' is not categorical");
        }
        column(field).appendLong(classes[field].idOf(name));
    }

    /** Sets text of a small or payload field. */
    public void setString(int field, String value) {
        if (field < small.length) {
            column(field).appendString(value);
        } else {
            setBytes(field, StandardCharsets.UTF_8.encode(value));
        }
    }

    /** Sets the bytes of a utf8, binary, list or tensor field, small or payload; copies what remains of the buffer. */
    public void setBytes(int field, ByteBuffer bytes) {
        if (field < small.length) {
            column(field).appendBytes(bytes);
        } else {
            PayloadColumn column = payloadColumn(field);
            checkLength(column, bytes.remaining());
            column.add(bytes.duplicate());
            checkValue(column);
        }
    }

    /** Says that the row has no value; a nullable field that is not set has none either. */
    public void setNull(int field) {
        column(field).appendNull();
    }

    /**
     * Room for a payload value, to be filled from index 0 on; then {@link #commit}. Valid until then.
     *
     * @return a direct buffer with position 0 and limit {@code upTo}
     */
    public ByteBuffer reserve(int field, int upTo) {
        PayloadColumn column = payload(field);
        checkLength(column, upTo);
        return column.reserve(upTo);
    }

    /** Takes the first {@code length} bytes of the last {@link #reserve} as the field's value. */
    public void commit(int field, int length) {
        PayloadColumn column = payloadColumn(field);
        column.commit(length);
        checkValue(column);
    }

    /**
     * Reads a payload value from a stream to its end.
     *
     * @param limit more bytes than this are refused with an IllegalArgumentException; at most 1 GiB
     * @return bytes read
     */
    public long setBytes(int field, InputStream in, long limit) throws IOException {
        PayloadColumn column = payloadColumn(field);
        if (streamBuffer == null) {
            streamBuffer = new byte[STREAM_BYTES];
        }
        for (int n = in.read(streamBuffer); n >= 0; n = in.read(streamBuffer)) {
            checkTotal(column, n, limit);
            column.add(ByteBuffer.wrap(streamBuffer, 0, n));
        }
        checkValue(column);
        return column.rowLength();
    }

    /** As {@link #setBytes(int, InputStream, long)}, straight into place from a blocking channel. */
    public long setBytes(int field, ReadableByteChannel in, long limit) throws IOException {
        PayloadColumn column = payloadColumn(field);
        while (true) {
            ByteBuffer room = column.reserve(column.room() == 0 ? STREAM_BYTES : column.room());
            int n = in.read(room);
            column.commit(Math.max(0, n));
            if (n < 0) {
                checkValue(column);
                return column.rowLength();
            }
            checkTotal(column, 0, limit);
        }
    }

    /** Ends the row. A field that is neither set nor nullable is an IllegalStateException. */
    public void endRow() {
        if (!inRow) {
            throw new IllegalStateException("no row was begun");
        }
        for (int f = 0; f < set.length; f++) {
            Field field = layout.fields().get(f);
            if (!set[f] && !field.nullable()) {
                throw new IllegalStateException(
                        "sample '" + key + "' has no value for field '" + field.name() + "', which is not nullable");
            }
        }
        for (int f = 0; f < small.length; f++) {
            if (!set[f]) {
                small[f].appendNull();
            }
        }
        long bytes = RowSize.of(ScalarType.UTF8, false, keys.lastLength());
        for (ColumnBuilder column : small) {
            bytes += RowSize.of(column.field().type(), column.field().nullable(), column.lastLength());
        }
        for (PayloadColumn column : payload) {
            bytes += RowSize.of(column.field().type(), false, column.rowLength());
            column.endRow();
        }
        largestRow = Math.max(largestRow, bytes);
        inRow = false;
    }

    /** Drops the row that was begun, if any. */
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

    /** Ended rows. */
    public int rows() {
        return keys.rows() - (inRow ? 1 : 0);
    }

    /** An upper bound of the file's length if it were finished now, some hundred bytes too high. */
    public long length() {
        return lengthWith(0);
    }

    /**
     * As {@link #length}, with one more row.
     *
     * @param rowBytes bytes of its key, small values and payload
     */
    public long lengthWith(long rowBytes) {
        long names = 0;
        for (ClassNames each : classes) {
            names += each == null ? 0 : each.jsonBytes();
        }
        long body = keys.byteLength() + perRowBytes();
        for (ColumnBuilder column : small) {
            body += column.byteLength();
        }
        for (PayloadColumn column : payload) {
            body += column.bytes() + (rows() + 2L) * 8;
        }
        long padding = (long) layout.batch().buffers() * RecordBatchLayout.ALIGNMENT;
        return schemaBytes + 2 * names + layout.batch().headLength() + body + padding + SLACK + rowBytes;
    }

    /**
     * The finished chunk; it refers to this builder's memory, so write it before {@link #reset}. There must be at
     * least one row. IllegalStateException when the file would have 2^31 bytes or more.
     */
    public PackedChunk finish(ChunkIdentity identity) {
        if (inRow || rows() == 0) {
            throw new IllegalStateException(
                    inRow ? "row '" + key + "' is neither ended nor abandoned" : "a chunk has at least one row");
        }
        List<List<String>> names = classLists();
        ArrowSchema schema = new ChunkSchema(identity, layout, names).toArrow();
        byte[] opening = ArrowHead.opening(schema);
        RecordBatchParts parts = parts();
        long headLength = opening.length + parts.smallLength();
        if (headLength + parts.bodyLength() > Integer.MAX_VALUE - (1 << 20)) {
            throw new IllegalStateException("chunk " + identity.chunk() + " would have "
                    + (headLength + parts.bodyLength()) + " bytes; 2^31 is the limit; make smaller chunks");
        }
        ByteBuffer head = ByteBuffer.allocate((int) headLength).order(ByteOrder.LITTLE_ENDIAN);
        head.put(opening);
        parts.writeSmall(head);
        head.flip();
        int headCrc = Crc32cs.of(head);

        List<ByteBuffer> buffers = new ArrayList<>(List.of(head));
        ConcatCrc file = new ConcatCrc();
        file.add(headCrc, headLength);
        for (PayloadColumn column : payload) {
            for (int row = 0; row < rows(); row++) {
                file.add(column.crc(row), column.length(row));
            }
            buffers.addAll(column.slices());
            int padding = (int) (RecordBatchLayout.align(column.bytes()) - column.bytes());
            if (padding > 0) {
                buffers.add(ByteBuffer.allocate(padding));
                file.addZeros(padding);
            }
        }
        ByteBuffer tail = ByteBuffer.wrap(footer(schema, opening.length, parts.bodyLength(), headLength, headCrc)
                .tail());
        buffers.add(tail);
        file.add(tail);
        ChunkSummary summary = new ChunkSummary(
                identity.chunk(),
                identity.split(),
                rows(),
                file.length(),
                file.value(),
                headLength,
                headCrc,
                largestRow);
        return new PackedChunk(summary, classesByName(names), List.copyOf(buffers));
    }

    /** Starts an empty chunk in the same memory; a row that was begun is dropped. */
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
        largestRow = 0;
    }

    private RecordBatchParts parts() {
        RecordBatchParts parts = new RecordBatchParts(layout.batch(), rows());
        parts.set(0, keys);
        for (int f = 0; f < small.length; f++) {
            parts.set(layout.column(f), small[f]);
        }
        for (int p = 0; p < payload.length; p++) {
            int field = small.length + p;
            FieldType type = layout.fields().get(field).type();
            ColumnBuilder crcs = new ColumnBuilder(ArrowField.of(ChunkLayout.CRC_PREFIX, ScalarType.UINT32));
            for (int row = 0; row < rows(); row++) {
                crcs.appendLong(payload[p].crc(row) & 0xFFFFFFFFL);
            }
            parts.set(layout.crcColumn(field), crcs);
            parts.setPayload(layout.column(field), type, payload[p].offsets(), payload[p].bytes());
        }
        return parts;
    }

    private ArrowFooter footer(ArrowSchema schema, int messageAt, long bodyLength, long headLength, int headCrc) {
        return new ArrowFooter(
                schema,
                messageAt,
                layout.batch().headLength(),
                bodyLength,
                ChunkFile.footerMetadata(headLength, headCrc));
    }

    private List<List<String>> classLists() {
        List<List<String>> lists = new ArrayList<>();
        for (ClassNames names : classes) {
            lists.add(names == null ? List.of() : names.list());
        }
        return lists;
    }

    private Map<String, List<String>> classesByName(List<List<String>> lists) {
        Map<String, List<String>> byName = new LinkedHashMap<>();
        for (int f = 0; f < classes.length; f++) {
            if (classes[f] != null) {
                byName.put(layout.fields().get(f).name(), lists.get(f));
            }
        }
        return byName;
    }

    private long perRowBytes() {
        return (rows() + 2L) * 4;
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

    private void checkTotal(PayloadColumn column, long more, long limit) {
        long total = column.rowLength() + more;
        if (total > limit) {
            throw new IllegalArgumentException("sample '" + key + "', field '"
                    + column.field().name() + "': more than " + limit + " bytes; leave it out or raise the limit");
        }
        checkLength(column, total);
    }

    private void checkLength(PayloadColumn column, long length) {
        if (length > ChunkLayout.MAX_PAYLOAD) {
            throw new IllegalArgumentException("sample '" + key + "', field '"
                    + column.field().name() + "': " + length + " bytes; 1 GiB is the limit; leave it out or split it");
        }
    }

    private void checkValue(PayloadColumn column) {
        FieldType type = column.field().type();
        long length = column.rowLength();
        if (type == ScalarType.UTF8 && !column.isUtf8()) {
            throw new IllegalArgumentException("sample '" + key + "', field '"
                    + column.field().name() + "': the bytes are not UTF-8; make the field binary or convert the text");
        }
        boolean fits = type.hasOffsets() ? length % type.width() == 0 : length == type.width();
        if (!fits) {
            throw new IllegalArgumentException("sample '" + key + "', field '"
                    + column.field().name() + "': " + length + " bytes are no value of type " + type);
        }
    }
}
