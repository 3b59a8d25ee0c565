package dev.stoker.ingest.rows.update;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.ingest.rows.pack.FieldSink;
import dev.stoker.metadata.update.NewValues;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.io.BufferRangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/** Collects the rows of a table of {@code stoker update} in Arrow form, and gives them to {@link NewValues}. */
final class UpdateRows {

    /** Rows of a block of values. */
    private static final int BLOCK_ROWS = 1 << 16;

    private static final long BLOCK_BYTES = 64L << 20;

    /** Payload is never updated. */
    private static final int NO_SEGMENTS = 4096;

    private final ChunkBuilder builder;
    private final FieldSink sink;
    private final NewValues values;
    private final UUID dataset;
    private final String location;

    /** @param location of the table, for errors */
    UpdateRows(List<Field> fields, NewValues values, UUID dataset, String location) {
        this.builder = new ChunkBuilder(fields, NO_SEGMENTS);
        this.sink = new FieldSink(fields, "give each key a value");
        this.values = values;
        this.dataset = dataset;
        this.location = location;
    }

    ValueSink at(int field) {
        return sink.at(field);
    }

    void begin(String key) throws BadValueException {
        try {
            builder.beginRow(key);
        } catch (IllegalArgumentException e) {
            throw new BadValueException(ErrorText.of(e));
        }
        sink.begin(builder);
    }

    void end() throws IOException, BadValueException {
        try {
            builder.endRow();
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw new BadValueException(ErrorText.of(e));
        }
        if (builder.rows() == BLOCK_ROWS || builder.lengthWith(0) > BLOCK_BYTES) {
            flush();
        }
    }

    void flush() throws IOException {
        if (builder.rows() == 0) {
            return;
        }
        PackedChunk packed =
                builder.finish(new ChunkIdentity(dataset, new UUID(0, 0), "update", "update", Instant.EPOCH));
        ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(packed.summary().length()));
        packed.buffers().forEach(part -> bytes.put(part.duplicate()));
        builder.reset();
        ChunkHead rows = ChunkReader.open(new BufferRangeReader(location, bytes.flip()));
        int twice = values.add(rows);
        if (twice >= 0) {
            throw new CorruptDataException("The key '" + rows.key(twice) + "' occurs twice in " + location
                    + "; remove all its rows but one; nothing was committed");
        }
    }
}
