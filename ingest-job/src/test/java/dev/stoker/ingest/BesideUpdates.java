package dev.stoker.ingest;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.metadata.update.NewValues;
import dev.stoker.metadata.update.SampleUpdate;
import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;

/** Updates of labels, as {@code stoker update} makes them. */
final class BesideUpdates {

    private BesideUpdates() {}

    /** Gives a sample the id of the update as label. */
    static void update(ObjectStore store, BesideOperations.Slot slot) throws IOException {
        Dataset dataset = Dataset.open(store);
        List<Field> fields = dataset.info().fields().stream()
                .filter(field -> field.name().equals("label"))
                .toList();
        ChunkBuilder builder = new ChunkBuilder(fields, 1 << 12);
        builder.beginRow(BesideState.UPDATED);
        builder.setClass(0, slot.ingest());
        builder.endRow();
        ByteBuffer file = ByteBuffer.allocate(1 << 14);
        builder.finish(new ChunkIdentity(new UUID(0, 0), new UUID(0, 0), "table", "table", SampleDatasets.NOW))
                .buffers()
                .forEach(part -> file.put(part.duplicate()));
        NewValues values = new NewValues(fields);
        values.add(ChunkReader.open(new BufferRangeReader("table", file.flip())));
        new SampleUpdate(dataset, values, SampleRule.MissingKeys.FAIL, 1, chunks -> {})
                .commit(slot.ingest(), SampleDatasets.CLOCK, "ada@host");
    }
}
