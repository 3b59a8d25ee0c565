package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.CRC32C;

/**
 * What a version of a dataset holds, read back from its chunk files.
 *
 * @param samples in the order of chunks and rows
 * @param chunkKeys the keys of each chunk
 */
public record Packed(Snapshot snapshot, List<Sample> samples, List<List<String>> chunkKeys) {

    /** A sample, with the values of its fields; payload as bytes, a class by its name in the version's class table. */
    public record Sample(String key, String split, Map<String, Object> fields) {
        public byte[] bytes(String field) {
            return (byte[]) fields.get(field);
        }
    }

    public static long latestVersion(Path target) throws IOException {
        try (ObjectStore store = new LocalObjectStore(target)) {
            Optional<Dataset> dataset = Dataset.find(store);
            return dataset.isPresent() ? dataset.get().latestVersion() : 0;
        }
    }

    /** What the dataset is. */
    public static DatasetInfo info(Path target) throws IOException {
        try (ObjectStore store = new LocalObjectStore(target)) {
            return Dataset.open(store).info();
        }
    }

    /** The ingests that have a lease. */
    public static Set<String> leases(Path target) throws IOException {
        try (ObjectStore store = new LocalObjectStore(target)) {
            return new Leases(Dataset.open(store)).all().keySet();
        }
    }

    /** Fails unless the newest version holds exactly these images, by key. */
    static void assertHasImages(Path target, Map<String, byte[]> expected) throws IOException {
        Map<String, byte[]> packed = read(target).bytes("image");
        assertThat(packed.keySet()).isEqualTo(expected.keySet());
        packed.forEach((key, bytes) -> assertThat(bytes).as(key).isEqualTo(expected.get(key)));
    }

    public static Packed read(Path target) throws IOException {
        try (ObjectStore store = new LocalObjectStore(target)) {
            Snapshot snapshot = Dataset.open(store).snapshot();
            List<Sample> samples = new ArrayList<>();
            List<List<String>> chunkKeys = new ArrayList<>();
            for (int i = 0; i < snapshot.table().size(); i++) {
                if (!snapshot.table().isLive(i)) {
                    continue;
                }
                ChunkHead head = ChunkHeads.read(store, snapshot.table(), i);
                byte[] file = Files.readAllBytes(
                        target.resolve(ChunkNames.path(snapshot.table().id(i))));
                List<String> keys = new ArrayList<>();
                for (int row = 0; row < head.rows(); row++) {
                    if (!snapshot.table().isLive(i, row)) {
                        continue;
                    }
                    keys.add(head.key(row));
                    samples.add(
                            new Sample(head.key(row), snapshot.table().split(i), fields(snapshot, head, file, row)));
                }
                chunkKeys.add(keys);
            }
            return new Packed(snapshot, samples, chunkKeys);
        }
    }

    private static Map<String, Object> fields(Snapshot snapshot, ChunkHead head, byte[] file, int row) {
        Map<String, Object> values = new HashMap<>();
        for (int f = 0; f < head.fields().size(); f++) {
            Field field = head.fields().get(f);
            if (field.payload()) {
                int from = head.payloadPosition(f, row);
                byte[] bytes = Arrays.copyOfRange(file, from, from + head.payloadLength(f, row));
                CRC32C crc = new CRC32C();
                crc.update(bytes);
                if ((int) crc.getValue() != head.payloadCrc32c(f, row)) {
                    throw new AssertionError("CRC of " + head.key(row));
                }
                values.put(field.name(), bytes);
                continue;
            }
            ArrowColumn column = head.column(f);
            if (column.isNull(row)) {
                continue;
            }
            values.put(
                    field.name(),
                    switch (field.type().canonical()) {
                        case "categorical" -> {
                            String name = head.classes(f).get(column.intAt(row));
                            // What a reader does: from the chunk's id to the name to the version's id.
                            int id = snapshot.classes().id(field.name(), name).orElseThrow();
                            yield snapshot.classes().names(field.name()).get(id);
                        }
                        case "utf8" -> column.stringAt(row);
                        case "binary", "int32[]", "int64[]", "float64[]" -> {
                            ByteBuffer bytes = column.bytesAt(row);
                            byte[] copy = new byte[bytes.remaining()];
                            bytes.get(copy);
                            yield copy;
                        }
                        case "utf8[]" -> texts(column, row);
                        case "float32", "float64" -> column.doubleAt(row);
                        default -> column.longAt(row);
                    });
        }
        return values;
    }

    private static List<String> texts(ArrowColumn column, int row) {
        List<String> texts = new ArrayList<>();
        for (int item = 0; item < column.itemCount(row); item++) {
            texts.add(StandardCharsets.UTF_8.decode(column.itemAt(row, item)).toString());
        }
        return texts;
    }

    public List<String> keys() {
        return samples.stream().map(Sample::key).toList();
    }

    /** The bytes of a field by key; fails on a key that occurs twice. */
    public Map<String, byte[]> bytes(String field) {
        Map<String, byte[]> bytes = new TreeMap<>();
        for (Sample sample : samples) {
            if (bytes.put(sample.key(), sample.bytes(field)) != null) {
                throw new AssertionError(sample.key() + " occurs twice");
            }
        }
        return bytes;
    }

    /** A field by key. */
    public Map<String, Object> values(String field) {
        Map<String, Object> values = new TreeMap<>();
        samples.forEach(sample -> values.put(sample.key(), sample.fields().get(field)));
        return values;
    }
}
