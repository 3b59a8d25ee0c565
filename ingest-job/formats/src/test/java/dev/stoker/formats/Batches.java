package dev.stoker.formats;

import dev.stoker.formats.write.OutputColumn;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.formats.write.RowFormatWriter;
import dev.stoker.formats.write.RowOutput;
import dev.stoker.schemas.arrow.BatchColumns;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.batch.BatchBuilder;
import dev.stoker.schemas.batch.BatchChunk;
import dev.stoker.schemas.batch.BatchMessage;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.chunk.PackedChunk;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

/** Makes batches of rows for writers, as an export reads them from chunks. */
public final class Batches {
    private Batches() {}

    /** The table of a batch, with the rows. */
    public record Made(OutputTable table, RowBatch rows) {
        /** Returns the same columns under another compression. */
        public Made compressed(String compression) {
            return new Made(new OutputTable(table.columns(), table.key(), compression), rows);
        }

        /** Writes a file with the rows, several times one after the other. */
        public byte[] write(RowFormatWriter format, int times) throws IOException {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            try (RowOutput output = format.open(out, table)) {
                for (int i = 0; i < times; i++) {
                    output.write(rows);
                }
                output.finish();
            }
            return out.toByteArray();
        }
    }

    /**
     * Makes a batch.
     *
     * @param rows key and values in the order of the fields: Long, Double, Boolean, BigDecimal, String, byte[], lists
     *     of String, or null
     */
    public static Made of(List<Field> fields, List<List<Object>> rows) throws IOException {
        ChunkBuilder builder = new ChunkBuilder(fields, 1 << 16);
        for (List<Object> row : rows) {
            builder.beginRow((String) row.get(0));
            for (int f = 0; f < fields.size(); f++) {
                set(builder, fields.get(f), f, row.get(f + 1));
            }
            builder.endRow();
        }
        Instant now = Instant.parse("2026-01-01T00:00:00Z");
        PackedChunk packed = builder.finish(new ChunkIdentity(new UUID(1, 2), new UUID(3, 4), "test", "train", now));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (ByteBuffer buffer : packed.buffers()) {
            byte[] copy = new byte[buffer.remaining()];
            buffer.duplicate().get(copy);
            bytes.writeBytes(copy);
        }
        ByteBuffer file = ByteBuffer.wrap(bytes.toByteArray());
        return made(fields, ChunkReader.headIn(file, packed.summary(), "test"), file);
    }

    private static Made made(List<Field> fields, ChunkHead head, ByteBuffer file) throws IOException {
        BatchBuilder builder = new BatchBuilder(fields);
        int[][] ids = new int[fields.size()][];
        List<OutputColumn> columns = new ArrayList<>();
        columns.add(new OutputColumn("key", ScalarType.UTF8, false, false, List.of()));
        for (int f = 0; f < fields.size(); f++) {
            Field field = fields.get(f);
            ids[f] = IntStream.range(0, head.classes(f).size()).toArray();
            columns.add(
                    new OutputColumn(field.name(), field.type(), field.nullable(), field.payload(), head.classes(f)));
        }
        int[] rowOf = IntStream.range(0, head.rows()).toArray();
        BatchChunk[] chunks = {builder.chunk(head, file, 0, ids)};
        BatchMessage message =
                builder.build(chunks, new int[rowOf.length], rowOf, 0, rowOf.length, ByteBuffer::allocate);
        ByteBuffer whole = ByteBuffer.allocate(message.length()).order(ByteOrder.LITTLE_ENDIAN);
        message.writeTo(whole);
        whole.flip();
        return new Made(
                new OutputTable(columns, 0, "none"),
                new RowBatch(rowOf.length, BatchColumns.read(whole, fields, "test"), whole));
    }

    private static void set(ChunkBuilder builder, Field field, int f, Object value) {
        if (value == null) {
            builder.setNull(f);
        } else if (value instanceof BigDecimal decimal) {
            builder.setDecimal(f, decimal);
        } else if (value instanceof List<?> items) {
            builder.setStrings(f, items.stream().map(String.class::cast).toList());
        } else if (value instanceof ByteBuffer[] items) {
            builder.setItems(f, List.of(items));
        } else if (value instanceof String text && field.type() == ScalarType.CATEGORICAL) {
            builder.setClass(f, text);
        } else if (value instanceof String text) {
            builder.setString(f, text);
        } else if (value instanceof byte[] bytes) {
            builder.setBytes(f, ByteBuffer.wrap(bytes));
        } else if (value instanceof Double number) {
            builder.setDouble(f, number);
        } else {
            builder.setLong(f, value instanceof Boolean flag ? (flag ? 1 : 0) : (Long) value);
        }
    }

    /** Returns numbers as the bytes of a list or tensor. */
    public static byte[] ints(int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            bytes.putInt(value);
        }
        return bytes.array();
    }

    /** Returns numbers as the bytes of a list or tensor. */
    public static byte[] floats(float... values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            bytes.putFloat(value);
        }
        return bytes.array();
    }
}
