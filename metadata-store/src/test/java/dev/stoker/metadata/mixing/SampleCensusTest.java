package dev.stoker.metadata.mixing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.removal.SampleRemoval;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SampleCensusTest {

    private static final int CHUNKS = 64;
    private static final int ROWS = 32;
    private static final int CLASSES = 16;

    private final ObjectStore store = new InMemoryObjectStore();

    /** @param classOf the class of each sample, by its place in the order of storage */
    private Dataset dataset(IntUnaryOperator classOf) throws IOException {
        Dataset dataset = Dataset.create(store, SampleDatasets.info());
        List<ChunkSummary> chunks = new ArrayList<>();
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            Map<String, byte[]> images = new LinkedHashMap<>();
            for (int row = 0; row < ROWS; row++) {
                int sample = chunk * ROWS + row;
                images.put("c" + classOf.applyAsInt(sample) + "/" + sample, new byte[sample % 2 == 0 ? 100 : 1000]);
            }
            chunks.add(SampleDatasets.write(store, SampleDatasets.id(chunk), "ingest-0", "train", images));
        }
        List<String> names = new ArrayList<>();
        for (int c = 0; c < CLASSES; c++) {
            names.add("c" + c);
        }
        SampleDatasets.committer(dataset)
                .commit(VersionRequest.append("ingest-0", chunks, Map.of("label", names), Map.of()));
        return dataset;
    }

    private static OrderSpec order(long window) {
        return new OrderSpec(0, 32, 1, window, ShufflePolicy.WINDOW, LaneOrder.MIXED);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void countsClassesAndSizesWithoutRemovedSamples(int threads) throws IOException {
        Dataset dataset = dataset(sample -> sample % CLASSES);
        SampleDatasets.committer(dataset)
                .commit(VersionRequest.remove(
                        "remove-0", SampleRemoval.ofKeys(dataset, List.of("c0/0", "c1/1", "c1/17")), Map.of()));

        AtomicInteger read = new AtomicInteger();
        SampleCensus census = SampleCensus.of(store, dataset.snapshot(), threads, read::incrementAndGet);
        assertThat(read).hasValue(dataset.snapshot().table().liveChunks());

        List<String> names = dataset.snapshot().classes().names("label");
        long[] counts = census.classCounts("label");
        assertThat(counts[names.indexOf("c0")]).isEqualTo(127);
        assertThat(counts[names.indexOf("c1")]).isEqualTo(126);
        assertThat(counts[names.indexOf("c15")]).isEqualTo(128);
        // With four bytes for the class.
        assertThat(census.sizes())
                .containsExactly(
                        new SampleCensus.SizeRange(64, 128, 1023), new SampleCensus.SizeRange(512, 1024, 1022));
    }

    @Test
    void sortedChunksMixLessThanAFullShuffle() throws IOException {
        Dataset dataset = dataset(sample -> sample * CLASSES / (CHUNKS * ROWS));
        SampleCensus census = SampleCensus.of(store, dataset.snapshot(), 1, () -> {});

        LabelMix narrow = census.mix("train", "label", order(1)).orElseThrow();
        LabelMix wide = census.mix("train", "label", order(1L << 30)).orElseThrow();

        assertThat(narrow.batchBits()).isZero();
        assertThat(narrow.quality()).isZero();
        assertThat(narrow.batches()).isEqualTo(CHUNKS);
        assertThat(wide.quality()).isBetween(0.97, 1.03);
        assertThat(wide.shuffledBits()).isBetween(3.0, 4.0);
    }

    @Test
    void shuffledChunksMixAsAFullShuffle() throws IOException {
        Dataset dataset = dataset(sample -> Math.floorMod(sample * 0x9E3779B1, 1 << 16) * CLASSES / (1 << 16));
        SampleCensus census = SampleCensus.of(store, dataset.snapshot(), 1, () -> {});

        assertThat(census.mix("train", "label", order(1)).orElseThrow().quality())
                .isBetween(0.9, 1.1);
    }
}
