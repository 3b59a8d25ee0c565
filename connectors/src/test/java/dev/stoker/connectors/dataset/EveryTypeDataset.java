package dev.stoker.connectors.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.chunks.ChunkWrites;
import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.commit.Removal;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;

/**
 * A dataset with a field of every type, for tests of readers. All values of a row follow from its number, and every
 * nullable field is null in each row whose number is a multiple of 5. For one thread.
 */
public final class EveryTypeDataset {

    /** The time of the first version; each version is an hour later than the one before. */
    public static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");

    public static final List<String> CLASSES = List.of("cat", "dog", "eel");

    private static final List<String> SMALL = List.of(
            "bool",
            "int8",
            "int16",
            "int32",
            "int64",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "float16",
            "bfloat16",
            "float32",
            "float64",
            "utf8",
            "binary",
            "categorical",
            "date",
            "time[s]",
            "time[ms]",
            "time[us]",
            "time[ns]",
            "timestamp[s]",
            "timestamp[ms]",
            "timestamp[us]",
            "timestamp[ns]",
            "timestamp[us,Europe/Berlin]",
            "decimal(10,2)",
            "decimal(38,10)",
            "int32[]",
            "uint8[]",
            "float32[]",
            "int64[2,2]",
            "utf8[]",
            "binary[]",
            "int32[][]",
            "int32?[]",
            "uint64?[]",
            "utf8?[]",
            "binary?[]");

    private static final List<Field> FIELDS = makeFields();

    private final Path directory;
    private long version;
    private int nextRow;

    private EveryTypeDataset(Path directory) {
        this.directory = directory;
    }

    /** Creates the dataset without versions. */
    public static EveryTypeDataset create(Path directory) throws IOException {
        try (ObjectStore store = new LocalObjectStore(directory)) {
            Dataset.create(
                    store, new DatasetInfo(UUID.randomUUID(), "every-type", BEGIN, fields(), Map.of("chunk_size", 1L)));
        }
        return new EveryTypeDataset(directory);
    }

    /** Returns the fields: one of each type, named like {@code f_int32}, then payload. */
    public static List<Field> fields() {
        return FIELDS;
    }

    private static List<Field> makeFields() {
        List<Field> fields = new ArrayList<>();
        for (String type : SMALL) {
            fields.add(Field.nullable(name(type), FieldType.parse(type)));
        }
        fields.add(Field.small("number", FieldType.parse("int64")));
        fields.add(new Field("p_binary", FieldType.parse("binary"), true, true));
        fields.add(Field.payload("p_utf8", FieldType.parse("utf8")));
        fields.add(Field.payload("p_list", FieldType.parse("int32[]")));
        fields.add(new Field("p_tensor", FieldType.parse("float32[2,3]"), true, true));
        return fields;
    }

    /** Returns the name of the small field of a type. */
    public static String name(String type) {
        return "f_" + type.replaceAll("[^a-z0-9]+", "_").replaceAll("_$", "")
                + (type.endsWith("?[]") ? "_nulls" : "")
                + (type.endsWith("[][]") ? "_lists" : type.endsWith("[]") ? "_list" : "");
    }

    public Path directory() {
        return directory;
    }

    /** Returns whether the nullable fields of a row are null. */
    public static boolean isNull(long number) {
        return number % 5 == 0;
    }

    public static String key(long number) {
        return "key-" + number;
    }

    /** Returns the bytes of the payload fields {@code p_binary} and {@code p_utf8}. */
    public static String payload(long number) {
        return ("payload-" + number + "-ü").repeat((int) (number % 4) + 1);
    }

    /** Commits a version with more rows in chunks of a split. */
    public void append(String split, int chunks, int rowsPerChunk) throws IOException {
        version++;
        try (ObjectStore store = new LocalObjectStore(directory)) {
            Dataset dataset = Dataset.open(store);
            List<ChunkSummary> written = new ArrayList<>();
            Random random = new Random(version);
            for (int c = 0; c < chunks; c++) {
                ChunkBuilder builder = new ChunkBuilder(fields(), 1 << 16);
                for (int r = 0; r < rowsPerChunk; r++) {
                    add(builder, nextRow++);
                }
                UUID id = ChunkNames.newId(BEGIN.toEpochMilli(), random);
                PackedChunk packed =
                        builder.finish(new ChunkIdentity(dataset.info().id(), id, "ingest-" + version, split, BEGIN));
                ChunkWrites.write(store, packed);
                written.add(packed.summary());
            }
            committer(dataset)
                    .commit(VersionRequest.append(
                            "ingest-" + version, written, Map.of(name("categorical"), CLASSES), Map.of()));
        }
    }

    /** Commits a version without some rows of a chunk. */
    public Commit remove(long ordinal, int... rows) throws IOException {
        version++;
        try (ObjectStore store = new LocalObjectStore(directory)) {
            Removal removal = base -> List.of(RemovedRows.of(ordinal, rows));
            return committer(Dataset.open(store)).commit(VersionRequest.remove("ingest-" + version, removal, Map.of()));
        }
    }

    private VersionCommitter committer(Dataset dataset) {
        return new VersionCommitter(dataset, InstantSource.fixed(BEGIN.plusSeconds(3600 * (version - 1))), "ada@host");
    }

    private static void add(ChunkBuilder row, int n) {
        row.beginRow(key(n));
        List<Field> fields = FIELDS;
        for (int f = 0; f < fields.size(); f++) {
            if (!(fields.get(f).nullable() && isNull(n))) {
                set(row, f, fields.get(f), n);
            }
        }
        row.endRow();
    }

    private static void set(ChunkBuilder row, int f, Field field, int n) {
        if (field.name().startsWith("p_") && field.type().width() == 1) {
            row.setString(f, payload(n));
            return;
        }
        switch (field.type().canonical()) {
            case "bool" -> row.setLong(f, n % 2);
            case "int8" -> row.setLong(f, (byte) (n - 100));
            case "uint8" -> row.setLong(f, (n + 200) % 256);
            case "uint16" -> row.setLong(f, 60_000 + n % 1_000);
            case "uint32" -> row.setLong(f, 4_000_000_000L + n);
            case "uint64" -> row.setLong(f, -1L - n);
            case "int64" -> row.setLong(f, n);
            case "int16", "int32", "date" -> row.setLong(f, 100L - n % 30_000);
            case "float16", "bfloat16", "float32", "float64" -> row.setDouble(f, n % 100 + 0.5);
            case "utf8" -> row.setString(f, "text ü " + n);
            case "binary" -> row.setBytes(f, ByteBuffer.wrap(("bytes " + n).getBytes(UTF_8)));
            case "categorical" -> row.setClass(f, CLASSES.get(n % 3));
            case "time[s]", "time[ms]", "time[us]", "time[ns]" -> row.setLong(f, n % 80_000 + 1L);
            case "timestamp[s]" -> row.setLong(f, -5L + n);
            case "timestamp[ms]" -> row.setLong(f, -1_500L + n);
            case "timestamp[us]", "timestamp[us,Europe/Berlin]" -> row.setLong(f, -1_500_001L + n);
            case "timestamp[ns]" -> row.setLong(f, -1_500_000_001L + n);
            case "decimal(10,2)" -> row.setDecimal(f, BigDecimal.valueOf(100L * n - 5, 2));
            case "decimal(38,10)" -> row.setDecimal(f, new BigDecimal("-12345678901234567890123456.0000000001"));
            case "int32[]" -> row.setBytes(f, ints(n, n % 4));
            case "uint8[]" -> row.setBytes(f, ByteBuffer.wrap(new byte[] {(byte) 255, (byte) n}));
            case "float32[]" -> row.setBytes(f, little(4).putFloat(n + 0.25f).flip());
            case "int64[2,2]" ->
                row.setBytes(
                        f,
                        little(32).putLong(n).putLong(2).putLong(3).putLong(4).flip());
            case "utf8[]" -> row.setStrings(f, n % 2 == 0 ? List.of() : List.of("a" + n, "", "ü"));
            case "binary[]" -> row.setItems(f, List.of(ByteBuffer.wrap(new byte[] {1, (byte) n})));
            case "int32[][]" -> row.setItems(f, List.of(ints(n, 2), ints(n, 0), ints(n, 1)));
            case "int32?[]" -> row.setItems(f, n % 4 == 0 ? List.of() : Arrays.asList(ints(n, 1), null, ints(-n, 1)));
            case "uint64?[]" ->
                row.setItems(f, Arrays.asList(null, little(8).putLong(-1L - n).flip()));
            case "utf8?[]" -> row.setStrings(f, n % 2 == 0 ? List.of("b" + n) : Arrays.asList("", null, "ü"));
            case "binary?[]" -> row.setItems(f, Arrays.asList(ByteBuffer.wrap(new byte[] {1, (byte) n}), null));
            case "float32[2,3]" -> {
                ByteBuffer tensor = little(24);
                for (int i = 0; i < 6; i++) {
                    tensor.putFloat(n + i);
                }
                row.setBytes(f, tensor.flip());
            }
            default -> throw new IllegalStateException(field.toString());
        }
    }

    private static ByteBuffer ints(int n, int count) {
        ByteBuffer ints = little(4 * count);
        for (int i = 0; i < count; i++) {
            ints.putInt(n + i);
        }
        return ints.flip();
    }

    private static ByteBuffer little(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
