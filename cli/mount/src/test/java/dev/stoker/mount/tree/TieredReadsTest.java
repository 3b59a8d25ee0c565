package dev.stoker.mount.tree;

import static dev.stoker.mount.TestMount.open;
import static dev.stoker.mount.TestMount.read;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.SampleDatasets;
import dev.stoker.mount.TestMount;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.server.tiers.TierOptions;
import dev.stoker.server.tiers.TierSpec;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reads of a store that is not on this machine. */
@Timeout(60)
class TieredReadsTest {

    private static final int CHUNKS = 12;
    private static final int ROWS = 20;
    private static final int BYTES = 10_000;

    private final InMemoryObjectStore store = new InMemoryObjectStore();
    private final Map<String, byte[]> files = new TreeMap<>();

    @BeforeEach
    void create() throws IOException {
        TestMount made = new TestMount(store);
        Random random = new Random(3);
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            Map<String, byte[]> images = new TreeMap<>();
            for (int row = 0; row < ROWS; row++) {
                byte[] image = new byte[BYTES];
                random.nextBytes(image);
                images.put(String.format("d/%02d-%02d", chunk, row), image);
            }
            files.putAll(images);
            made.append(images);
        }
    }

    private static TreeOptions tiers(TierSpec... tiers) {
        return TreeOptions.defaults().with(TierOptions.of(tiers));
    }

    private void readAll(MountTree tree, List<String> keys) throws IOException {
        for (String key : keys) {
            assertThat(read(tree, "/" + key)).isEqualTo(files.get(key));
        }
    }

    @Test
    void readsEachChunkOnceIntoATierWithRoom() throws IOException {
        try (MountTree tree = open(store, OptionalLong.of(CHUNKS), tiers(TierSpec.parse("memory:64m")))) {
            List<String> keys = new ArrayList<>(files.keySet());
            Collections.shuffle(keys, new Random(1));
            readAll(tree, keys);
            readAll(tree, keys);
            assertThat(tree.reads().reads()).isEqualTo(CHUNKS);
            assertThat(tree.reads().bytes()).isEqualTo(tree.bytes());
        }
    }

    @Test
    void readsEachChunkOnceAheadOfAReaderInOrder() throws IOException {
        try (MountTree tree = open(store, OptionalLong.of(CHUNKS), tiers())) {
            readAll(tree, List.copyOf(files.keySet()));
            // The head and some samples are read before the order is known. The program and the reader of the next
            // samples read them at the same time, so each of them can be read twice.
            long atFirst = 3 + 2 * NextSamples.AHEAD;
            assertThat(tree.reads().reads()).isLessThanOrEqualTo(CHUNKS + atFirst);
            assertThat(tree.reads().bytes()).isLessThan(tree.bytes() + atFirst * BYTES);
        }
    }

    @Test
    void readsOnlySamplesForAReaderInNoOrder() throws IOException {
        try (MountTree tree = open(store, OptionalLong.of(CHUNKS), tiers())) {
            readAll(tree, List.of("d/03-07", "d/00-01", "d/07-19", "d/03-02", "d/11-11"));
            assertThat(tree.reads().bytes()).isLessThan(150_000);
        }
    }

    @Test
    void readsOnlySamplesForAReaderInRandomOrder() throws IOException {
        TreeOptions usual = tiers();
        TreeOptions fewChunks = new TreeOptions(
                usual.tiers(), 3L * ROWS * BYTES, usual.headBytes(), usual.interval(), usual.listsVersions());
        try (MountTree tree = open(store, OptionalLong.of(CHUNKS), fewChunks)) {
            List<String> keys = new ArrayList<>(files.keySet());
            Collections.shuffle(keys, new Random(2));
            readAll(tree, keys);
            assertThat(tree.reads().bytes()).isLessThan(tree.bytes() * 3 / 2);
        }
    }

    @Test
    void readsOnlySamplesIfTwoNeighboursFollowEachOtherByChance() throws IOException {
        try (MountTree tree = open(store, OptionalLong.of(CHUNKS), tiers())) {
            readAll(tree, List.of("d/03-00", "d/03-01"));
            // A head, two samples, and the samples ahead.
            while (tree.reads().reads() < 3 + NextSamples.AHEAD && tree.reads().bytes() < ROWS * BYTES) {
                Thread.onSpinWait();
            }
            assertThat(tree.reads().bytes()).isLessThan((long) ROWS * BYTES);
        }
    }

    @Test
    void fillsTiersAtOnceIfAsked() throws IOException {
        TierOptions warmed = TierOptions.of(TierSpec.parse("memory:64m")).warmed();
        try (MountTree tree =
                open(store, OptionalLong.of(CHUNKS), TreeOptions.defaults().with(warmed))) {
            while (tree.reads().reads() < CHUNKS) {
                Thread.onSpinWait();
            }
            readAll(tree, List.copyOf(files.keySet()));
            assertThat(tree.reads().reads()).isEqualTo(CHUNKS);
        }
    }

    @Test
    void readsADamagedChunkAgain() throws IOException {
        String chunk = ChunkNames.path(SampleDatasets.id(1));
        byte[] right = store.readAll(chunk, Long.MAX_VALUE);
        byte[] wrong = right.clone();
        wrong[right.length / 2] ^= 1;
        store.corrupt(chunk, wrong);
        try (MountTree tree = open(store, OptionalLong.of(CHUNKS), tiers(TierSpec.parse("memory:64m")))) {
            List<String> damaged = new ArrayList<>();
            for (int row = 0; row < ROWS; row++) {
                String key = String.format("d/00-%02d", row);
                try {
                    assertThat(read(tree, "/" + key)).isEqualTo(files.get(key));
                } catch (IOException e) {
                    damaged.add(e.getMessage());
                }
            }
            assertThat(damaged).singleElement().asString().contains("of chunk 0, version " + CHUNKS);
            store.corrupt(chunk, right);
            readAll(tree, List.copyOf(files.keySet()));
        }
    }
}
