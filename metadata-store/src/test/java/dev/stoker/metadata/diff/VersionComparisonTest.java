package dev.stoker.metadata.diff;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.compaction.Compaction;
import dev.stoker.metadata.compaction.CompactionPlan;
import dev.stoker.metadata.compaction.CompactionRules;
import dev.stoker.metadata.compaction.CompactionThreads;
import dev.stoker.metadata.diff.VersionDiff.Change;
import dev.stoker.metadata.diff.VersionDiff.ClassCounts;
import dev.stoker.metadata.diff.VersionDiff.Counts;
import dev.stoker.metadata.diff.VersionDiff.Sample;
import dev.stoker.metadata.removal.SampleRemoval;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class VersionComparisonTest {

    private final InMemoryObjectStore store = new InMemoryObjectStore(CLOCK);
    private Dataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(store, info());
        append(
                "a",
                write(store, id(1), "a", "train", "cat/1", "dog/1", "cat/2"),
                write(store, id(2), "a", "val", "dog/2"));
    }

    private void append(String ingest, ChunkSummary... chunks) throws IOException {
        committer(dataset)
                .commit(VersionRequest.append(
                        ingest, List.of(chunks), Map.of("label", List.of("cat", "dog")), Map.of()));
    }

    private void remove(String ingest, String... keys) throws IOException {
        committer(dataset)
                .commit(VersionRequest.remove(ingest, SampleRemoval.ofKeys(dataset, List.of(keys)), Map.of()));
    }

    private void compact() throws IOException, InterruptedException {
        CompactionPlan plan =
                CompactionPlan.of(dataset.snapshot(), new CompactionRules(1 << 20, 1 << 20, OptionalLong.empty()));
        new Compaction(dataset, "compact-1", "ada@host", CLOCK, new CompactionThreads(1, 1, 1 << 24), bytes -> {})
                .run(plan);
    }

    private VersionDiff diff(long from, long to) throws IOException {
        return new VersionComparison(dataset, dataset.snapshot(from), dataset.snapshot(to), 2, chunks -> {})
                .run(VersionComparison.Samples.LISTED);
    }

    @Test
    void countsBySplitAndClass() throws IOException {
        append("b", write(store, id(3), "b", "train", "cat/3", "cat/4"));
        remove("c", "dog/1", "dog/2");

        VersionDiff diff = diff(1, 3);

        assertThat(diff.splits())
                .containsExactly(
                        Map.entry(
                                "train",
                                new Counts(
                                        2,
                                        1,
                                        0,
                                        List.of(
                                                new ClassCounts("label", "cat", 2, 0),
                                                new ClassCounts("label", "dog", 0, 1)))),
                        Map.entry("val", new Counts(0, 1, 0, List.of(new ClassCounts("label", "dog", 0, 1)))));
        assertThat(diff.samples())
                .containsExactly(
                        new Sample("train", "cat/3", Change.ADDED),
                        new Sample("train", "cat/4", Change.ADDED),
                        new Sample("train", "dog/1", Change.REMOVED),
                        new Sample("val", "dog/2", Change.REMOVED));
        assertThat(diff(3, 1).splits().get("train").added()).isEqualTo(1);
        assertThat(diff(3, 1).splits().get("train").removed()).isEqualTo(2);
        assertThat(diff(3, 3).isEmpty()).isTrue();
    }

    @Test
    void aCompactionIsNoDifference() throws Exception {
        append("b", write(store, id(3), "b", "train", "cat/3", "cat/4"));
        remove("c", "dog/1");
        compact();
        assertThat(dataset.snapshot().table().liveChunks()).isEqualTo(2);
        assertThat(dataset.latestVersion()).isEqualTo(4);

        assertThat(diff(3, 4).isEmpty()).isTrue();
        assertThat(diff(4, 3).isEmpty()).isTrue();
        assertThat(diff(2, 4).samples()).containsExactly(new Sample("train", "dog/1", Change.REMOVED));
        assertThat(diff(4, 2).samples()).containsExactly(new Sample("train", "dog/1", Change.ADDED));
    }

    @Test
    void aReplacedSampleIsAChange() throws IOException {
        remove("b", "cat/1");
        append("c", write(store, id(3), "c", "train", Map.of("cat/1", "another".getBytes(StandardCharsets.UTF_8))));

        assertThat(diff(1, 3).samples()).containsExactly(new Sample("train", "cat/1", Change.CHANGED));
        assertThat(diff(1, 3).splits().get("train"))
                .isEqualTo(new Counts(1, 1, 1, List.of(new ClassCounts("label", "cat", 1, 1))));
    }

    @Test
    void aSampleInAnotherSplitIsRemovedAndAdded() throws IOException {
        remove("b", "cat/1");
        append("c", write(store, id(3), "c", "val", "cat/1"));

        assertThat(diff(1, 3).samples())
                .containsExactly(
                        new Sample("train", "cat/1", Change.REMOVED), new Sample("val", "cat/1", Change.ADDED));
    }

    @Test
    void readsOnlyTheChunksThatDiffer() throws IOException {
        append("b", write(store, id(3), "b", "train", "cat/3", "cat/4"));
        store.delete(ChunkNames.path(id(1)));
        AtomicInteger read = new AtomicInteger();
        VersionComparison comparison =
                new VersionComparison(dataset, dataset.snapshot(1), dataset.snapshot(2), 2, read::addAndGet);

        assertThat(comparison.chunks()).isEqualTo(1);
        assertThat(comparison.run(VersionComparison.Samples.COUNTED).splits()).hasSize(1);
        assertThat(read).hasValue(1);
    }
}
