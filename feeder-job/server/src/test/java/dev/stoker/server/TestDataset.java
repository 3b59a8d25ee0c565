package dev.stoker.server;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.server.feed.StreamSpec;
import dev.stoker.storage.LocalObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/**
 * A small dataset on disk and, beside it, the plain truth about its samples. Fields: {@code label} categorical,
 * {@code score} nullable float32, {@code image} payload. Chunks use different classes in different orders.
 */
public final class TestDataset {
    /** Fields of every test dataset. */
    public static final List<Field> FIELDS = List.of(
            Field.small("label", ScalarType.CATEGORICAL),
            Field.nullable("score", ScalarType.FLOAT32),
            Field.payload("image", FieldType.parse("binary")));

    /** What a sample is. */
    public record Sample(String key, String label, Float score, byte[] image) {}

    private final Path path;
    private final DatasetInfo info;
    private final List<List<Sample>> chunks = new ArrayList<>();
    private final List<ChunkSummary> summaries = new ArrayList<>();
    private long version;

    private TestDataset(Path path, DatasetInfo info) {
        this.path = path;
        this.info = info;
    }

    /**
     * Writes a dataset of one version and split.
     *
     * @param rows of each chunk
     * @param imageBytes greatest length of an image
     */
    public static TestDataset create(Path path, long seed, int imageBytes, int... rows) throws IOException {
        Random random = new Random(seed);
        DatasetInfo info = new DatasetInfo(
                new UUID(random.nextLong(), random.nextLong()),
                path.getFileName().toString(),
                Instant.EPOCH,
                FIELDS,
                Map.of("chunk_size", 8388608L));
        TestDataset dataset = new TestDataset(path, info);
        Dataset.create(new LocalObjectStore(path), info);
        dataset.add(random, imageBytes, rows);
        return dataset;
    }

    /** Commits a version with further chunks. */
    public void append(long seed, int imageBytes, int... rows) throws IOException {
        add(new Random(seed), imageBytes, rows);
    }

    private void add(Random random, int imageBytes, int... rows) throws IOException {
        Map<String, TreeSet<String>> classes = new TreeMap<>();
        int first = chunks.size();
        for (int chunk = first; chunk < first + rows.length; chunk++) {
            PackedChunk packed = pack(random, chunk, rows[chunk - first], imageBytes);
            Path file = file(chunk);
            Files.createDirectories(file.getParent());
            try (FileChannel out = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                packed.writeTo(out);
            }
            packed.classes()
                    .forEach((field, names) -> classes.computeIfAbsent(field, key -> new TreeSet<>())
                            .addAll(names));
        }
        Map<String, List<String>> used = new TreeMap<>();
        classes.forEach((field, names) -> used.put(field, List.copyOf(names)));
        version = new VersionCommitter(Dataset.open(new LocalObjectStore(path)), Instant::now, "test")
                .commit(VersionRequest.append(
                        "ingest-" + (version + 1), summaries.subList(first, summaries.size()), used, Map.of()))
                .version();
    }

    /** Commits a version without these rows of a chunk. */
    public void remove(int ordinal, int... rows) throws IOException {
        remove(RemovedRows.of(ordinal, rows));
    }

    /** Commits a version without this chunk. */
    public void removeChunk(int ordinal) throws IOException {
        remove(RemovedRows.wholeChunk(ordinal));
    }

    private void remove(RemovedRows rows) throws IOException {
        Dataset dataset = Dataset.open(new LocalObjectStore(path));
        version = new VersionCommitter(dataset, Instant::now, "test")
                .commit(VersionRequest.remove("remove-" + (version + 1), base -> List.of(rows), Map.of()))
                .version();
    }

    private PackedChunk pack(Random random, int chunk, int rows, int imageBytes) {
        ChunkBuilder builder = new ChunkBuilder(FIELDS, 1 << 16);
        List<Sample> samples = new ArrayList<>();
        for (int row = 0; row < rows; row++) {
            byte[] image = new byte[random.nextInt(imageBytes + 1)];
            random.nextBytes(image);
            Sample sample = new Sample(
                    "c" + chunk + "/r" + row,
                    "class-" + (char) ('a' + random.nextInt(2 + chunk % 5)),
                    random.nextInt(4) == 0 ? null : random.nextFloat(),
                    image);
            samples.add(sample);
            builder.beginRow(sample.key());
            builder.setClass(0, sample.label());
            if (sample.score() == null) {
                builder.setNull(1);
            } else {
                builder.setDouble(1, sample.score());
            }
            builder.setBytes(2, ByteBuffer.wrap(image));
            builder.endRow();
        }
        chunks.add(samples);
        UUID id = ChunkNames.newId(chunk + 1, random);
        PackedChunk packed = builder.finish(new ChunkIdentity(info.id(), id, "ingest-1", "train", Instant.EPOCH));
        summaries.add(packed.summary());
        return packed;
    }

    public Path path() {
        return path;
    }

    public UUID id() {
        return info.id();
    }

    public long version() {
        return version;
    }

    /** The chunk's samples; chunks are numbered by ordinal. */
    public List<Sample> samples(int ordinal) {
        return chunks.get(ordinal);
    }

    public ChunkSummary summary(int ordinal) {
        return summaries.get(ordinal);
    }

    /** The chunk's file. */
    public Path file(int ordinal) {
        return path.resolve(ChunkNames.path(summaries.get(ordinal).id()));
    }

    /** A stream over the dataset. */
    public StreamSpec stream(String name) {
        return new StreamSpec(name, path.toString(), id(), version, "train");
    }
}
