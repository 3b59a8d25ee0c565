package dev.stoker.ingest;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.metadata.update.NewValues;
import dev.stoker.metadata.update.SampleUpdate;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;

/** Updates of labels, and of a field that the first of them adds, as {@code stoker update} makes them. */
final class BesideUpdates {

    /** The field that updates add. */
    static final Field NOTE = Field.nullable("note", ScalarType.UTF8);

    private BesideUpdates() {}

    /** Gives a sample the id of the update as label and as note. */
    static void update(ObjectStore store, BesideOperations.Slot slot) throws IOException {
        Dataset dataset = Dataset.open(store);
        List<Field> fields = List.of(dataset.info().field("label").orElseThrow(), NOTE);
        ChunkBuilder builder = new ChunkBuilder(fields, 1 << 12);
        builder.beginRow(BesideState.UPDATED);
        builder.setClass(0, slot.ingest());
        builder.setBytes(1, ByteBuffer.wrap(slot.ingest().getBytes(StandardCharsets.UTF_8)));
        builder.endRow();
        ByteBuffer file = ByteBuffer.allocate(1 << 14);
        builder.finish(new ChunkIdentity(new UUID(0, 0), new UUID(0, 0), "table", "table", SampleDatasets.NOW))
                .buffers()
                .forEach(part -> file.put(part.duplicate()));
        NewValues values = new NewValues(fields, AddedFields.of(List.of(NOTE)));
        values.add(ChunkReader.open(new BufferRangeReader("table", file.flip())));
        new SampleUpdate(dataset, values, SampleRule.MissingKeys.FAIL, 1, chunks -> {})
                .commit(slot.ingest(), SampleDatasets.CLOCK, "ada@host");
    }
}
