package dev.stoker.metadata;

import dev.stoker.metadata.commit.Update;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.copy.CopyResult;
import dev.stoker.metadata.copy.DatasetCopy;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;

/** Small datasets with real chunks, for tests. */
public final class SampleDatasets {

    /** The time of everything. */
    public static final Instant NOW = Instant.parse("2026-11-20T10:00:00.123Z");

    /** Stands still. */
    public static final InstantSource CLOCK = InstantSource.fixed(NOW);

    /** Ignores the progress of a copy. */
    public static final DatasetCopy.Listener IGNORING = new DatasetCopy.Listener() {
        @Override
        public void planned(CopyResult plan) {}

        @Override
        public void copied(long bytes) {}
    };

    private SampleDatasets() {}

    /** A dataset of images with a label. */
    public static DatasetInfo info() {
        return new DatasetInfo(
                UUID.fromString("5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d"),
                "photos",
                NOW,
                List.of(
                        Field.small("label", FieldType.parse("categorical")),
                        Field.payload("image", FieldType.parse("binary"))),
                Map.of("chunk_size", 8_388_608L));
    }

    /** A committer of such a dataset. */
    public static VersionCommitter committer(Dataset dataset) {
        return new VersionCommitter(dataset, CLOCK, "ada@host");
    }

    /** Returns a summary of a chunk. Its file is {@link #place placed} without content, or does not exist. */
    public static ChunkSummary summary(int number, String split, int rows) {
        return new ChunkSummary(id(number), split, rows, 1_000 + number, number, 500, -number, 100);
    }

    /** Returns a request to append chunks without classes and properties. */
    public static VersionRequest append(String ingest, ChunkSummary... chunks) {
        return VersionRequest.append(ingest, List.of(chunks), Map.of(), Map.of());
    }

    /** Puts files of the right length where the chunks {@code first} to {@code last} of {@link #summary} would lie. */
    public static void place(ObjectStore store, int first, int last) throws IOException {
        for (int number = first; number <= last; number++) {
            store.createIfAbsent(ChunkNames.path(id(number)), new byte[1_000 + number]);
        }
    }

    /** An id that follows from a number. */
    public static UUID id(int number) {
        return ChunkNames.newId(NOW.toEpochMilli() + number, new Random(number));
    }

    /** Writes a chunk whose samples have these keys; the label is the part of the key before the slash. */
    public static ChunkSummary write(ObjectStore store, UUID id, String ingest, String split, String... keys)
            throws IOException {
        Map<String, byte[]> images = new LinkedHashMap<>();
        for (String key : keys) {
            images.put(key, ("image of " + key).getBytes(StandardCharsets.UTF_8));
        }
        return write(store, id, ingest, split, images);
    }

    /** Writes a chunk of these images by key. */
    public static ChunkSummary write(
            ObjectStore store, UUID id, String ingest, String split, Map<String, byte[]> images) throws IOException {
        return write(store, id, ingest, split, images, info().fields());
    }

    /** Commits a version with one more field, which no sample has a value of. */
    public static void addField(Dataset dataset, Field field) throws IOException {
        Update update = base -> new Update.Changes(List.of(), Map.of(), AddedFields.of(List.of(field)));
        committer(dataset).commit(VersionRequest.update("add-" + field.name(), update, base -> Map.of()));
    }

    /** Writes a chunk of images by key that has also added fields, with nulls. */
    public static ChunkSummary write(
            ObjectStore store, UUID id, String ingest, String split, Map<String, byte[]> images, List<Field> fields)
            throws IOException {
        ChunkBuilder builder = new ChunkBuilder(fields, 1 << 16);
        for (Map.Entry<String, byte[]> image : images.entrySet()) {
            String key = image.getKey();
            builder.beginRow(key);
            builder.setClass(0, key.substring(0, Math.max(0, key.indexOf('/'))));
            for (int f = 1; f < fields.size() - 1; f++) {
                builder.setNull(f);
            }
            builder.setBytes(fields.size() - 1, ByteBuffer.wrap(image.getValue()));
            builder.endRow();
        }
        PackedChunk chunk = builder.finish(new ChunkIdentity(info().id(), id, ingest, split, NOW));
        try (ObjectWriter writer = store.write(ChunkNames.path(id))) {
            for (ByteBuffer part : chunk.buffers()) {
                writer.write(part.duplicate());
            }
            writer.commit();
        }
        return chunk.summary();
    }
}
