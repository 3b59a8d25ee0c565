package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.ArrowFooter;
import dev.stoker.schemas.arrow.ArrowHead;
import dev.stoker.schemas.arrow.ArrowHead.Opening;
import dev.stoker.schemas.arrow.ColumnBuilder;
import dev.stoker.schemas.arrow.FixedValues;
import dev.stoker.schemas.arrow.RecordBatchLayout;
import dev.stoker.schemas.arrow.RecordBatchParts;
import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.ArrowSchema;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.crc.ConcatCrc;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Contains the columns of a chunk under construction, and builds the file from them. Not thread-safe.
 *
 * @param keys has one more value than the others while a row is open
 * @param small small columns, by field
 * @param payload payload columns, by payload field
 * @param classes class names, by field; null for a field that is not categorical
 * @param memory for the head of a finished chunk
 * @param schemaBytes bytes of schema message and tail without dictionaries, with an identity of some length
 */
record ChunkColumns(
        ChunkLayout layout,
        ColumnBuilder keys,
        ColumnBuilder[] small,
        PayloadColumn[] payload,
        ClassNames[] classes,
        HeadMemory memory,
        long schemaBytes) {
    private static final int MIN_SEGMENT = 4096;

    /** Reserve for longer texts of the identity in schema and footer, and for their padding. */
    private static final int SLACK = 512;

    /** Minimum space for the tail within the file's limit of 2^31 bytes. */
    private static final int TAIL_ROOM = 1 << 20;

    ChunkColumns(ChunkLayout layout, int segmentBytes) {
        this(
                layout,
                new ColumnBuilder(ArrowField.of(Field.KEY, ScalarType.UTF8)),
                layout.fields().subList(0, layout.smallFields()).stream()
                        .map(field -> new ColumnBuilder(ArrowField.of(field)))
                        .toArray(ColumnBuilder[]::new),
                layout.fields().subList(layout.smallFields(), layout.fields().size()).stream()
                        .map(field ->
                                new PayloadColumn(field, Math.max(MIN_SEGMENT, segmentBytes / layout.payloadFields())))
                        .toArray(PayloadColumn[]::new),
                layout.fields().stream()
                        .map(field -> field.type() == ScalarType.CATEGORICAL ? new ClassNames() : null)
                        .toArray(ClassNames[]::new),
                new HeadMemory(),
                emptySchemaBytes(layout));
    }

    private static long emptySchemaBytes(ChunkLayout layout) {
        ChunkIdentity any =
                new ChunkIdentity(new UUID(0, 0), new UUID(0, 0), "i".repeat(40), "s".repeat(40), Instant.EPOCH);
        ArrowSchema empty = new ChunkSchema(any, layout).toArrow();
        List<List<String>> noNames =
                layout.fields().stream().map(field -> List.<String>of()).toList();
        Opening opening = ArrowHead.opening(empty, byColumn(layout, noNames));
        String checksums = HeadChecksums.blank(
                opening.dictionaries().size() + 1 + layout.batch().smallBuffers());
        return opening.bytes().length
                + (long) footer(layout, empty, opening, 0, ChunkReader.footerMetadata(0, 0, checksums))
                        .tail()
                        .length;
    }

    private static Map<Integer, List<String>> byColumn(ChunkLayout layout, List<List<String>> names) {
        Map<Integer, List<String>> byColumn = new HashMap<>();
        for (int f = 0; f < layout.smallFields(); f++) {
            byColumn.put(layout.column(f), names.get(f));
        }
        return byColumn;
    }

    /** Returns an upper bound of the length of the file with {@code rows} rows, with space for one more. */
    long lengthBound(int rows) {
        long bytes = schemaBytes + SLACK + layout.batch().headLength() + keys.byteLength();
        for (ClassNames names : classes) {
            bytes += names == null ? 0 : names.dictionaryBytes();
        }
        for (ColumnBuilder column : small) {
            bytes += column.byteLength();
        }
        for (PayloadColumn column : payload) {
            // 4 bytes for each row for the checksums, 4 for the offsets, and a bit for the validity.
            bytes += column.bytes() + (rows + 2L) * 8 + (rows + 15L) / 8;
        }
        long padding = (long) layout.batch().buffers() * RecordBatchLayout.ALIGNMENT;
        return bytes + padding + (rows + 2L) * 4;
    }

    /** Appends rows of a block, all of them or none. There must be no payload columns. */
    void append(RowBlock block, int first, int count) {
        int rows = keys.rows();
        boolean isComplete = false;
        try {
            keys.appendTexts(block.keys(), block.keyEnds(), first, count);
            for (int f = 0; f < small.length; f++) {
                FixedValues values = block.values()[f];
                if (values != null) {
                    small[f].appendFixed(values, first, count);
                } else {
                    for (int row = 0; row < count; row++) {
                        small[f].appendNull();
                    }
                }
            }
            isComplete = true;
        } finally {
            if (!isComplete) {
                keys.truncate(rows);
                for (ColumnBuilder column : small) {
                    column.truncate(Math.min(rows, column.rows()));
                }
            }
        }
    }

    /** Returns a number of rows of a block that surely fit; {@code count} at most. */
    int roomFor(RowBlock block, int first, int count, long limit) {
        int rows = keys.rows();
        long free = limit - lengthBound(rows);
        // Of each row: the offset and text of its key, and what lengthBound adds.
        long rowBytes = 4L + block.longestKey(first, count) + 4;
        long rowBits = 0;
        for (int f = 0; f < small.length; f++) {
            FieldType type = small[f].field().type();
            FixedValues values = block.values()[f];
            rowBytes += type.layout() == FieldType.Layout.BITS ? 1 : type.hasOffsets() ? 4 : type.width();
            if (small[f].hasNulls()) {
                rowBits++;
                free--;
            } else if (values == null || values.hasNull(first, count)) {
                free -= (rows + count) / 8 + 1;
            }
        }
        return free <= 0 ? 0 : (int) Math.min(count, 8 * free / (8 * rowBytes + rowBits));
    }

    /** Builds the file. All columns must have the same number of rows, at least one. */
    PackedChunk finish(ChunkIdentity identity, long largestRow) {
        List<List<String>> names = classLists();
        ArrowSchema schema = new ChunkSchema(identity, layout).toArrow();
        Opening opening = ArrowHead.opening(schema, byColumn(layout, names));
        RecordBatchParts parts = parts();
        long headLength = opening.bytes().length + parts.smallLength();
        long messageLength = layout.batch().headLength() + parts.bodyLength();
        if (opening.bytes().length + messageLength > Integer.MAX_VALUE - TAIL_ROOM) {
            throw new IllegalStateException("chunk " + identity.chunk() + " would have a body of " + parts.bodyLength()
                    + " bytes; 2^31 is the limit of a file; make smaller chunks");
        }
        ByteBuffer head = memory.take((int) headLength);
        head.put(opening.bytes());
        parts.writeSmall(head);
        head.flip();
        HeadChecksums.Sums sums = HeadChecksums.of(head, parts.headParts(opening));

        List<ByteBuffer> buffers = new ArrayList<>(List.of(head));
        ConcatCrc file = new ConcatCrc();
        file.add(sums.whole(), headLength);
        for (PayloadColumn column : payload) {
            column.appendTo(buffers, file);
        }
        Map<String, String> metadata = ChunkReader.footerMetadata(headLength, sums.whole(), sums.text());
        ByteBuffer tail = ByteBuffer.wrap(
                footer(layout, schema, opening, parts.bodyLength(), metadata).tail());
        buffers.add(tail);
        file.add(tail);
        ChunkSummary summary = new ChunkSummary(
                identity.chunk(),
                identity.split(),
                keys.rows(),
                file.length(),
                file.value(),
                headLength,
                sums.whole(),
                largestRow);
        return new PackedChunk(summary, classesByName(names), missing(), List.copyOf(buffers));
    }

    private RecordBatchParts parts() {
        RecordBatchParts parts = new RecordBatchParts(layout.batch(), keys.rows());
        parts.set(0, keys);
        for (int f = 0; f < small.length; f++) {
            parts.set(layout.column(f), small[f]);
        }
        for (int p = 0; p < payload.length; p++) {
            int field = small.length + p;
            FieldType type = layout.fields().get(field).type();
            parts.set(layout.crcColumn(field), payload[p].sums());
            PayloadColumn values = payload[p];
            parts.setPayload(layout.column(field), type, values.nulls(), values.offsets(), values.bytes());
        }
        return parts;
    }

    private static ArrowFooter footer(
            ChunkLayout layout, ArrowSchema schema, Opening opening, long bodyLength, Map<String, String> metadata) {
        ArrowFooter.Block batch =
                new ArrowFooter.Block(opening.bytes().length, layout.batch().headLength(), bodyLength);
        return new ArrowFooter(schema, opening.dictionaries(), batch, metadata);
    }

    private List<List<String>> classLists() {
        List<List<String>> lists = new ArrayList<>();
        for (ClassNames names : classes) {
            lists.add(names == null ? List.of() : names.list());
        }
        return lists;
    }

    private Map<String, Long> missing() {
        Map<String, Long> missing = new LinkedHashMap<>();
        for (int f = 0; f < small.length; f++) {
            if (classes[f] != null && small[f].nullCount() > 0) {
                missing.put(small[f].field().name(), (long) small[f].nullCount());
            }
        }
        return missing;
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

    /** Memory for the heads of the chunks that a builder makes one after the other. Not thread-safe. */
    static final class HeadMemory {
        private byte[] array = new byte[0];

        /** Returns a little-endian buffer with any content. It is valid until the next call. */
        ByteBuffer take(int length) {
            if (array.length < length) {
                // The heads of full chunks differ a little in length.
                array = new byte[(int) Math.min(Integer.MAX_VALUE - 64L, length + length / 16L)];
            }
            return ByteBuffer.wrap(array, 0, length).slice().order(ByteOrder.LITTLE_ENDIAN);
        }
    }
}
