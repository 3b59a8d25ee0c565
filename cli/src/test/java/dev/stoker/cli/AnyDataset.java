package dev.stoker.cli;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Writes a dataset with any fields. Each chunk is a version. */
public final class AnyDataset {

    private final Path directory;
    private final DatasetInfo info;
    private int versions;
    private String author = "ada@host";

    private AnyDataset(Path directory, DatasetInfo info) {
        this.directory = directory;
        this.info = info;
    }

    public static AnyDataset create(Path directory, String name, List<Field> fields) throws IOException {
        DatasetInfo info = new DatasetInfo(
                SampleDatasets.info().id(), name, SampleDatasets.NOW, fields, Map.of("chunk_size", 8_388_608L));
        try (ObjectStore store = new LocalObjectStore(directory)) {
            Dataset.create(store, info);
        }
        return new AnyDataset(directory, info);
    }

    /** Names the author of the next versions. */
    public AnyDataset by(String name) {
        author = name;
        return this;
    }

    /** Commits a version with one more chunk. */
    public AnyDataset append(String split, Consumer<ChunkBuilder> rows) throws IOException {
        ChunkBuilder builder = new ChunkBuilder(info.fields(), 1 << 16);
        rows.accept(builder);
        return append(split, builder);
    }

    /** Commits a version with the rows of a builder. */
    public AnyDataset append(String split, ChunkBuilder builder) throws IOException {
        String ingest = "ingest-" + versions;
        PackedChunk chunk = builder.finish(
                new ChunkIdentity(info.id(), SampleDatasets.id(versions), ingest, split, SampleDatasets.NOW));
        try (ObjectStore store = new LocalObjectStore(directory)) {
            try (ObjectWriter writer = store.write(ChunkNames.path(SampleDatasets.id(versions)))) {
                for (ByteBuffer part : chunk.buffers()) {
                    writer.write(part.duplicate());
                }
                writer.commit();
            }
            new VersionCommitter(Dataset.open(store), SampleDatasets.CLOCK, author)
                    .commit(VersionRequest.append(ingest, List.of(chunk.summary()), chunk.classes(), Map.of()));
        }
        versions++;
        return this;
    }
}
