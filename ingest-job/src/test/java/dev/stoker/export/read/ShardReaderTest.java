package dev.stoker.export.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.export.spec.Content;
import dev.stoker.export.spec.RowOrder;
import dev.stoker.export.spec.Shard;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.ingest.IngestJob;
import dev.stoker.ingest.IngestOptions;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.storage.CountingObjectStore;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A dataset on a store whose objects are not files of this machine: four directories of 25 files of 10 KB. */
class ShardReaderTest {
    private static final int SAMPLES = 100;
    private static final int SAMPLE_BYTES = 10_000;
    private static final RowOrder EPOCH =
            new RowOrder.Epoch(3, new OrderSpec(5, 7, 3, 200_000, ShufflePolicy.WINDOW, LaneOrder.MIXED).toJson());

    @TempDir
    private static Path root;

    private static CountingObjectStore store;
    private static Snapshot snapshot;

    private long excluded;

    @BeforeAll
    static void ingest() throws Exception {
        for (int i = 0; i < SAMPLES; i++) {
            Path file = root.resolve(String.format("source/d%d/%02d.bin", i / 25, i % 25));
            Files.createDirectories(file.getParent());
            Files.write(file, new byte[SAMPLE_BYTES]);
        }
        IngestOptions options = IngestOptions.parse(
                root.resolve("source").toString(),
                root.resolve("data").toString(),
                "--payload=data",
                "--order=listed",
                "--chunk-size=64kb");
        IngestJob.run(options, IngestJob.embedded(options), IngestListener.silent());
        InMemoryObjectStore memory = new InMemoryObjectStore();
        try (Stream<Path> all = Files.walk(root.resolve("data"))) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                memory.createIfAbsent(root.resolve("data").relativize(file).toString(), Files.readAllBytes(file));
            }
        }
        store = new CountingObjectStore(memory);
        snapshot = Dataset.open(store).snapshot();
    }

    /** Returns the keys in their order. */
    private List<String> read(int[] columns, @Nullable String where, RowOrder order, long memoryBytes)
            throws IOException {
        Content content = new Content(columns, new ArrayList<>(), "arrow", "none", null, where);
        ExportSelection selection = ExportSelection.of(snapshot.info().fields(), content);
        Shard all = new Shard("train", 0, 1, 0, SAMPLES);
        store.reset();
        ShardReader reader = ShardReader.of(store, snapshot, selection, order, all, memoryBytes);
        List<String> keys = new ArrayList<>();
        for (RowBatch rows = reader.next(); rows != null; rows = reader.next()) {
            RowBatch batch = rows;
            IntStream.range(0, rows.rows())
                    .mapToObj(row -> batch.columns().get(0).stringAt(row))
                    .forEach(keys::add);
        }
        excluded = reader.excluded();
        return keys;
    }

    @Test
    void payloadIsReadOnlyIfItIsExported() throws Exception {
        assertThat(read(new int[] {0}, null, new RowOrder.Stored(), 1 << 20)).hasSize(SAMPLES);
        assertThat(store.bytes()).isLessThan(SAMPLES * SAMPLE_BYTES / 10);
        assertThat(read(new int[] {0, 1}, null, new RowOrder.Stored(), 1 << 20)).hasSize(SAMPLES);
        assertThat(store.bytes()).isGreaterThan(SAMPLES * SAMPLE_BYTES);
    }

    @Test
    void payloadOfChunksWithoutSelectedSamplesIsNotRead() throws Exception {
        List<String> keys = read(new int[] {0, 1}, "key < 'd1/'", new RowOrder.Stored(), 1 << 20);
        assertThat(keys).hasSize(25).allMatch(key -> key.startsWith("d0/"));
        assertThat(excluded).isEqualTo(SAMPLES - 25);
        assertThat(store.bytes()).isLessThan(SAMPLES * SAMPLE_BYTES / 2);
    }

    @Test
    void aConditionKeepsTheOrder() throws Exception {
        int[] columns = {0, 1};
        List<String> all = read(columns, null, EPOCH, 1 << 20);
        assertThat(all)
                .hasSize(SAMPLES)
                .doesNotHaveDuplicates()
                .isNotEqualTo(all.stream().sorted().toList());
        List<String> some = read(columns, "key > 'd1/' AND key <= 'd3/11.bin'", EPOCH, 1 << 20);
        assertThat(some)
                .hasSize(62)
                .isEqualTo(all.stream()
                        .filter(key -> key.compareTo("d1/") > 0 && key.compareTo("d3/11.bin") <= 0)
                        .toList());
    }

    @Test
    void littleMemoryOnlyCostsRepeatedReads() throws Exception {
        int[] columns = {0, 1};
        List<String> all = read(columns, "key IS NOT NULL", EPOCH, 1 << 20);
        long enough = store.bytes();
        assertThat(read(columns, "key IS NOT NULL", EPOCH, 1)).isEqualTo(all);
        assertThat(store.bytes()).isGreaterThan(enough);
    }
}
