package dev.stoker.ingest.rows.source;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.HintedFormat;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.json.JsonLinesFormat;
import dev.stoker.formats.values.TextValue;
import dev.stoker.formats.write.OutputColumn;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.formats.write.RowFormatWriter;
import dev.stoker.formats.write.RowOutput;
import dev.stoker.ingest.rows.pack.FieldSink;
import dev.stoker.schemas.arrow.BatchColumns;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.batch.BatchBuilder;
import dev.stoker.schemas.batch.BatchChunk;
import dev.stoker.schemas.batch.BatchMessage;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkFixtures;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.io.BufferRangeReader;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Files with one value: the column {@code x}, beside the column {@code key} with the key {@code k}. */
public final class SourceFiles {
    private SourceFiles() {}

    /** Returns a file in a format with types. */
    public static byte[] typed(RowFormatWriter format, FieldType type, JsonNode value) throws Exception {
        List<Field> fields = List.of(Field.nullable("x", type));
        ChunkBuilder builder = new ChunkBuilder(fields, 4096);
        FieldSink sink = new FieldSink(fields, "fill it");
        builder.beginRow("k");
        sink.begin(builder);
        give(type, value, sink.at(0));
        builder.endRow();
        PackedChunk packed = builder.finish(ChunkFixtures.identity(1));
        ByteBuffer file = ChunkFixtures.bytes(packed);
        ChunkHead head = ChunkReader.headIn(file, packed.summary(), "test");
        BatchBuilder batch = new BatchBuilder(fields);
        BatchChunk[] chunks = {batch.chunk(head, file, 0, new int[1][0])};
        BatchMessage message = batch.build(chunks, new int[1], new int[1], 0, 1, ByteBuffer::allocate);
        ByteBuffer whole = ByteBuffer.allocate(message.length()).order(ByteOrder.LITTLE_ENDIAN);
        message.writeTo(whole);
        whole.flip();
        OutputTable table = new OutputTable(
                List.of(
                        new OutputColumn("key", ScalarType.UTF8, false, false, List.of()),
                        new OutputColumn("x", type, true, false, List.of())),
                0,
                "none");
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (RowOutput output = format.open(out, table)) {
            output.write(new RowBatch(1, BatchColumns.read(whole, fields, "test"), whole));
            output.finish();
        }
        return out.toByteArray();
    }

    /** Gives a value of the table. */
    private static void give(FieldType type, JsonNode value, ValueSink sink) throws Exception {
        if (value.isTextual()) {
            TextValue.put(value.textValue(), type, sink);
            return;
        }
        if (value.isArray() && value.toString().matches(".*(NaN|Inf).*")) {
            ByteBuffer numbers = ByteBuffer.allocate(8 * value.size()).order(ByteOrder.LITTLE_ENDIAN);
            value.forEach(item -> numbers.putDouble(Double.parseDouble(item.textValue())));
            sink.setBytes(numbers.flip());
            return;
        }
        boolean isText = type.canonical().startsWith("utf8");
        hinted(new JsonLinesFormat(), type, "{\"x\":" + (isText ? value.toString() : numbers(value)) + "}", sink);
    }

    /** Returns JSON with the numbers that the table has as text. */
    private static String numbers(JsonNode value) {
        return value.toString().replace("\"", "");
    }

    /** Reads the column of a file in a format without types. */
    public static void hinted(HintedFormat format, FieldType type, String file, ValueSink sink) throws Exception {
        hinted(format, type, file.getBytes(StandardCharsets.UTF_8), sink);
    }

    /** Reads the column of a file in a format without types. */
    public static void hinted(HintedFormat format, FieldType type, byte[] file, ValueSink sink) throws Exception {
        FieldType stored = type == ScalarType.CATEGORICAL ? ScalarType.UTF8 : type;
        BufferRangeReader bytes = new BufferRangeReader("test-file", ByteBuffer.wrap(file));
        try (RowFile rows = format.open(bytes, ReadLimits.DEFAULT, ColumnHints.types(Map.of("x", stored)))) {
            read(rows, sink);
        }
    }

    /** Gives the value of the only row. */
    public static void read(RowFile rows, ValueSink sink) throws Exception {
        int place = 0;
        while (!rows.schema().columns().get(place).name().equals("x")) {
            place++;
        }
        for (RowPart part : rows.parts()) {
            try (RowReader reader = rows.read(part, new int[] {place})) {
                if (!reader.next()) {
                    throw new AssertionError("no row");
                }
                reader.get(0, sink);
            }
        }
    }
}
