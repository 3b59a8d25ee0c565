package dev.stoker.metadata.compaction;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.chunks.ChunkWrites;
import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;

/** A dataset with every kind of field and with small chunks. */
public final class Crumbs {

    /** Stands still. */
    public static final InstantSource CLOCK = InstantSource.fixed(Instant.parse("2026-11-20T10:00:00.123Z"));

    private static final List<Field> FIELDS = List.of(
            Field.nullable("label", ScalarType.CATEGORICAL),
            Field.nullable("score", ScalarType.FLOAT32),
            Field.small("half", FieldType.parse("float16")),
            Field.nullable("flag", FieldType.parse("bool")),
            Field.small("place", FieldType.parse("float64[2]")),
            Field.nullable("caption", FieldType.parse("utf8")),
            Field.payload("image", FieldType.parse("binary")),
            new Field("tokens", FieldType.parse("int32[]"), true, true));

    private final ObjectStore store;
    private final Random random;
    private final Dataset dataset;
    private int ingests;

    /** Creates a dataset. */
    public Crumbs(ObjectStore store, long seed) throws IOException {
        this.store = store;
        this.random = new Random(seed);
        this.dataset = Dataset.create(
                store,
                new DatasetInfo(new UUID(7, seed), "crumbs", CLOCK.instant(), FIELDS, Map.of("chunk_size", 65536L)));
    }

    /** Returns the dataset. */
    public Dataset dataset() {
        return dataset;
    }

    /** Commits a version with one chunk for each number of rows; images have {@code imageBytes} bytes on average. */
    public Commit ingest(String split, int imageBytes, int... rows) throws IOException {
        String ingest = "ingest-" + ingests++;
        List<ChunkSummary> chunks = new ArrayList<>();
        Map<String, List<String>> classes = new TreeMap<>();
        for (int chunk = 0; chunk < rows.length; chunk++) {
            PackedChunk packed = pack(ingest, split, ingest + "/" + chunk + "/", imageBytes, rows[chunk]);
            ChunkWrites.write(store, packed);
            chunks.add(packed.summary());
            packed.classes()
                    .forEach((field, names) -> classes.computeIfAbsent(field, f -> new ArrayList<>())
                            .addAll(names));
        }
        return committer().commit(VersionRequest.append(ingest, chunks, classes, Map.of()));
    }

    VersionCommitter committer() {
        return new VersionCommitter(dataset, CLOCK, "test");
    }

    private PackedChunk pack(String ingest, String split, String prefix, int imageBytes, int rows) {
        ChunkBuilder builder = new ChunkBuilder(FIELDS, 1 << 16);
        for (int row = 0; row < rows; row++) {
            builder.beginRow(prefix + row);
            if (random.nextInt(5) > 0) {
                // Other chunks number the same classes otherwise.
                builder.setClass(0, "class-" + random.nextInt(6));
            }
            if (random.nextInt(4) > 0) {
                builder.setDouble(1, random.nextInt(4) == 0 ? Double.NaN : random.nextGaussian());
            }
            builder.setDouble(2, random.nextInt(3) == 0 ? -0.0 : random.nextGaussian());
            if (random.nextBoolean()) {
                builder.setLong(3, random.nextInt(2));
            }
            builder.setBytes(4, bytes(16));
            if (random.nextInt(3) > 0) {
                builder.setString(5, "ünïcode ".repeat(random.nextInt(3)));
            }
            builder.setBytes(6, bytes(random.nextInt(2 * imageBytes)));
            int tokens = random.nextInt(6);
            if (tokens > 0) {
                builder.setBytes(7, bytes(4 * tokens));
            }
            builder.endRow();
        }
        UUID id = ChunkNames.newId(CLOCK.millis(), random);
        return builder.finish(new ChunkIdentity(dataset.info().id(), id, ingest, split, CLOCK.instant()));
    }

    private ByteBuffer bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return ByteBuffer.wrap(bytes);
    }

    /** The keys of each live chunk in order, by ordinal. */
    static Map<Long, List<String>> keys(Dataset dataset, long version) throws IOException {
        Map<Long, List<String>> keys = new TreeMap<>();
        Snapshot snapshot = dataset.snapshot(version);
        for (int i = 0; i < snapshot.table().size(); i++) {
            if (snapshot.table().isLive(i)) {
                ChunkHead head = ChunkHeads.read(dataset.store(), snapshot.table(), i);
                List<String> own = new ArrayList<>();
                for (int row = 0; row < head.rows(); row++) {
                    if (!ChunkHeads.isRemoved(snapshot.table(), i, row)) {
                        own.add(head.key(row));
                    }
                }
                keys.put(snapshot.table().ordinal(i), own);
            }
        }
        return keys;
    }

    /** Each sample of a version by its key: split and every field, bit for bit. */
    public static Map<String, String> samples(Dataset dataset, long version) throws IOException {
        Map<String, String> samples = new TreeMap<>();
        Snapshot snapshot = dataset.snapshot(version);
        for (int i = 0; i < snapshot.table().size(); i++) {
            if (!snapshot.table().isLive(i)) {
                continue;
            }
            ChunkHead head = ChunkHeads.read(dataset.store(), snapshot.table(), i);
            byte[] file =
                    dataset.store().readAll(ChunkNames.path(snapshot.table().id(i)), Integer.MAX_VALUE);
            for (int row = 0; row < head.rows(); row++) {
                if (!ChunkHeads.isRemoved(snapshot.table(), i, row)
                        && samples.put(head.key(row), snapshot.table().split(i) + text(head, file, row)) != null) {
                    throw new AssertionError("twice: " + head.key(row));
                }
            }
        }
        return samples;
    }

    private static String text(ChunkHead head, byte[] file, int row) {
        StringBuilder text = new StringBuilder();
        for (int f = 0; f < FIELDS.size(); f++) {
            ArrowColumn column = head.column(f);
            text.append(' ');
            if (FIELDS.get(f).payload() && !column.isNull(row)) {
                int from = head.payloadPosition(f, row);
                text.append(HexFormat.of().formatHex(Arrays.copyOfRange(file, from, from + head.payloadLength(f, row))))
                        .append(head.payloadCrc32c(f, row));
            } else if (column.isNull(row)) {
                text.append("null");
            } else if (FIELDS.get(f).type() == ScalarType.CATEGORICAL) {
                text.append(head.classes(f).get(column.intAt(row)));
            } else if (FIELDS.get(f).type() == ScalarType.BOOL) {
                text.append(column.booleanAt(row));
            } else {
                ByteBuffer value = column.bytesAt(row);
                byte[] bytes = new byte[value.remaining()];
                value.get(bytes);
                text.append(HexFormat.of().formatHex(bytes));
            }
        }
        return text.toString();
    }
}
