package dev.stoker.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.storage.CountingObjectStore;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

class ChunkReadsTest {

    private static final int CHUNKS = 20;
    private static final int ROWS = 50;
    private static final int BYTES = 1000;

    /** Each chunk has {@value #ROWS} samples. Returns the keys in the order of their storage. */
    private static List<String> fill(FileDataset dataset) throws IOException {
        List<String> keys = new ArrayList<>();
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            Map<String, byte[]> images = new LinkedHashMap<>();
            for (int row = 0; row < ROWS; row++) {
                String key = String.format("d/%02d-%02d", chunk, row);
                images.put(key, content(key));
                keys.add(key);
            }
            dataset.append("train", images);
        }
        return keys;
    }

    private static byte[] content(String key) {
        byte[] content = new byte[BYTES];
        Arrays.fill(content, (byte) key.hashCode());
        return content;
    }

    /** Reads all files in an order, and returns the reads and bytes of the store. */
    private static long[] read(CountingObjectStore store, FileSystem files, List<String> keys) throws IOException {
        files.listStatus(new Path("/d"));
        store.reset();
        for (String key : keys) {
            assertThat(files.open(new Path("/" + key)).readAllBytes()).isEqualTo(content(key));
        }
        return new long[] {store.reads(), store.bytes()};
    }

    @Test
    void filesInTheOrderOfTheirStorageCostTwoReadsAChunk() throws IOException {
        CountingObjectStore store = new CountingObjectStore(new InMemoryObjectStore());
        FileDataset dataset = new FileDataset(store, "/memory");
        List<String> keys = fill(dataset);

        long[] cost = read(store, dataset.open("fs.stoker.cache.chunks", "200k"), keys);

        // Also the head of each chunk, which is two reads.
        assertThat(cost[0]).isLessThanOrEqualTo(4L * CHUNKS);
        assertThat(cost[1]).isLessThan(2L * CHUNKS * ROWS * BYTES);
    }

    @Test
    void filesInAnyOrderCostOneReadAChunkIfTheChunksFit() throws IOException {
        CountingObjectStore store = new CountingObjectStore(new InMemoryObjectStore());
        FileDataset dataset = new FileDataset(store, "/memory");
        List<String> keys = fill(dataset);
        Collections.shuffle(keys, new Random(7));

        long[] cost = read(store, dataset.open("fs.stoker.cache.chunks", "10m"), keys);

        assertThat(cost[0]).isLessThanOrEqualTo(6L * CHUNKS);
        assertThat(cost[1]).isLessThan(2L * CHUNKS * ROWS * BYTES);
    }

    @Test
    void filesInAnyOrderCostFewChunksIfTheChunksDoNotFit() throws IOException {
        CountingObjectStore store = new CountingObjectStore(new InMemoryObjectStore());
        FileDataset dataset = new FileDataset(store, "/memory");
        List<String> keys = fill(dataset);
        Collections.shuffle(keys, new Random(7));

        long[] cost = read(store, dataset.open("fs.stoker.cache.chunks", "120k"), keys);

        assertThat(cost[1]).isLessThan(5L * CHUNKS * ROWS * BYTES);
    }

    @Test
    void withoutMemoryEachFileIsReadOnItsOwn() throws IOException {
        CountingObjectStore store = new CountingObjectStore(new InMemoryObjectStore());
        FileDataset dataset = new FileDataset(store, "/memory");
        List<String> keys = fill(dataset);

        long[] cost = read(store, dataset.open("fs.stoker.cache.chunks", "0", "fs.stoker.cache.heads", "0"), keys);

        assertThat(cost[1]).isBetween((long) CHUNKS * ROWS * BYTES, 2L * CHUNKS * ROWS * BYTES);
    }

    @Test
    void aFlippedBitOnTheWayIsReadOnceMore() throws IOException {
        for (String whole : List.of("64m", "100")) {
            FaultyObjectStore store = new FaultyObjectStore(new InMemoryObjectStore());
            FileDataset dataset = new FileDataset(store, "/memory");
            dataset.append("train", Map.of("d/1", content("d/1")));
            FileSystem files = dataset.open("fs.stoker.whole.sample", whole);
            Predicate<FaultyObjectStore.Call> read = call -> call.operation() == FaultyObjectStore.Operation.READ
                    && call.name().startsWith("chunks/");
            assertThat(files.getFileStatus(new Path("/d/1")).getLen()).isEqualTo(BYTES);

            for (int i = 0; i < 2; i++) {
                store.once(read, FaultyObjectStore.Fault.FLIPPED_BIT);
                assertThat(files.open(new Path("/d/1")).readAllBytes()).isEqualTo(content("d/1"));
            }
        }
    }
}
