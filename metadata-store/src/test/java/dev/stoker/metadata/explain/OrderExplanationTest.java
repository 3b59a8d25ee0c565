package dev.stoker.metadata.explain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OrderExplanationTest {

    private final InMemoryObjectStore store = new InMemoryObjectStore();
    private Dataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(store, SampleDatasets.info());
        VersionCommitter committer = SampleDatasets.committer(dataset);
        for (int n = 0; n < 9; n++) {
            String prefix = "k" + n + "/";
            String[] keys = IntStream.range(0, 5 + n).mapToObj(i -> prefix + i).toArray(String[]::new);
            String split = n == 4 ? "val" : "train";
            ChunkSummary chunk = SampleDatasets.write(store, SampleDatasets.id(n), "ingest-" + n, split, keys);
            committer.commit(
                    VersionRequest.append("ingest-" + n, List.of(chunk), Map.of("label", List.of("k" + n)), Map.of()));
        }
        committer.commit(VersionRequest.remove(
                "remove", base -> List.of(RemovedRows.wholeChunk(1), RemovedRows.of(3, 0, 5)), Map.of()));
    }

    private static OrderSpec spec(int batchSize, int lanes, long window) {
        return new OrderSpec(11, batchSize, lanes, window, ShufflePolicy.WINDOW, LaneOrder.MIXED);
    }

    private Set<String> live() throws IOException {
        Set<String> keys = new HashSet<>();
        Snapshot snapshot = dataset.snapshot();
        for (int i = 0; i < snapshot.table().size(); i++) {
            if (snapshot.table().isLive(i) && snapshot.table().split(i).equals("train")) {
                ChunkHead head = ChunkHeads.read(store, snapshot.table(), i);
                for (int row = 0; row < head.rows(); row++) {
                    if (!ChunkHeads.isRemoved(snapshot.table(), i, row)) {
                        keys.add(head.key(row));
                    }
                }
            }
        }
        return keys;
    }

    @Test
    void eachSampleIsWhereItsBatchSaysAndInOneBatchOfAnEpoch() throws IOException {
        SampleIndex index = SampleIndex.open(dataset, dataset.snapshot());
        for (OrderSpec spec : List.of(spec(4, 3, 1), spec(7, 2, 1 << 20), spec(1, 1, 3000), spec(100, 5, 1 << 20))) {
            OrderExplanation order = new OrderExplanation(dataset, dataset.snapshot(), "train", spec);
            for (long epoch : new long[] {0, 3, 1L << 40}) {
                Map<String, SamplePosition> places = new HashMap<>();
                for (long batch = 0; batch < order.size().batches(); batch++) {
                    List<BatchSample> samples = order.batch(epoch, TailPolicy.KEEP, batch);
                    for (int i = 0; i < samples.size(); i++) {
                        assertThat(places.put(samples.get(i).key(), new SamplePosition(epoch, batch, i)))
                                .isNull();
                        assertThat(samples.get(i).repeated()).isFalse();
                    }
                }
                assertThat(places.keySet()).isEqualTo(live());
                for (Map.Entry<String, SamplePosition> place : places.entrySet()) {
                    assertThat(order.place(
                                    epoch, order.stat(index, place.getKey()).orElseThrow()))
                            .isEqualTo(place.getValue());
                }
            }
        }
    }

    @Test
    void samplesThatFillABatchAreMarked() throws IOException {
        OrderExplanation order = new OrderExplanation(dataset, dataset.snapshot(), "train", spec(15, 2, 1 << 20));
        long last = order.size().batches() - 1;
        List<BatchSample> samples = order.batch(0, TailPolicy.PAD, last);
        assertThat(samples).hasSize(15);
        List<BatchSample> own = order.batch(0, TailPolicy.KEEP, last);
        assertThat(own).hasSizeBetween(1, 14);
        assertThat(samples.subList(0, own.size())).isEqualTo(own);
        assertThat(samples.subList(own.size(), 15)).allMatch(BatchSample::repeated);
        assertThatThrownBy(() -> order.batch(0, TailPolicy.KEEP, last + 1)).hasMessageContaining("delivers nothing");
    }

    @Test
    void keysOfOtherSplitsAndRemovedSamplesAreNotInTheStream() throws IOException {
        SampleIndex index = SampleIndex.open(dataset, dataset.snapshot());
        OrderExplanation order = new OrderExplanation(dataset, dataset.snapshot(), "train", spec(4, 3, 1));
        assertThat(order.stat(index, "k4/0")).isEmpty();
        assertThat(order.stat(index, "k1/0")).isEmpty();
        assertThat(order.stat(index, "k3/5")).isEmpty();
        assertThat(order.stat(index, "none")).isEmpty();
        assertThat(order.stat(index, "k3/4")).isPresent();
    }
}
