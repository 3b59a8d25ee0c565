package dev.stoker.metadata.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.index.build.BuildThreads;
import dev.stoker.metadata.index.build.IndexBuild;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Samples of one split, and listings that continue after an entry; with runs and without. */
class IndexSplitTest {

    private final InMemoryObjectStore store = new InMemoryObjectStore();
    private IndexedDataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = IndexedDataset.create(store);
        for (int version = 0; version < 3; version++) {
            Map<String, byte[]> samples = new TreeMap<>();
            for (int i = 0; i < 60; i++) {
                samples.put((i % 5) + "/" + (i % 3) + "/" + version + "-" + i, new byte[i]);
            }
            samples.put("top " + version, new byte[1]);
            dataset.append(samples);
        }
    }

    private static List<ListEntry> entries(SampleListing listing) throws IOException {
        List<ListEntry> entries = new ArrayList<>();
        for (Optional<ListEntry> next = listing.next(); next.isPresent(); next = listing.next()) {
            entries.add(next.get());
        }
        return entries;
    }

    private void check() throws IOException {
        Snapshot snapshot = dataset.dataset().snapshot();
        SampleIndex all = SampleIndex.open(dataset.dataset(), snapshot);
        SampleIndex train = SampleIndex.ofSplit(dataset.dataset(), snapshot, "train");
        SampleIndex val = SampleIndex.ofSplit(dataset.dataset(), snapshot, "val");
        int found = 0;
        for (String key : dataset.samples(dataset.version()).keySet()) {
            SampleStat stat = all.stat(key).orElseThrow();
            assertThat(train.stat(key).isPresent()).isEqualTo(stat.split().equals("train"));
            assertThat(val.stat(key).isPresent()).isEqualTo(stat.split().equals("val"));
            assertThat(val.get(key).isPresent()).isEqualTo(stat.split().equals("val"));
            found += stat.split().equals("val") ? 1 : 0;
        }
        assertThat(found).isPositive();
        for (String delimiter : List.of("", "/")) {
            for (String prefix : List.of("", "1/", "1/2", "t")) {
                List<ListEntry> whole = entries(val.list(prefix, delimiter));
                assertThat(whole)
                        .as("'%s' '%s'", prefix, delimiter)
                        .containsExactlyElementsOf(expected(all, val, prefix, delimiter));
                for (int i = 0; i < whole.size(); i++) {
                    SampleListing rest = val.list(prefix, delimiter);
                    rest.skipAfter(whole.get(i).name());
                    assertThat(entries(rest)).containsExactlyElementsOf(whole.subList(i + 1, whole.size()));
                }
                SampleListing before = val.list(prefix, delimiter);
                before.skipAfter("");
                assertThat(entries(before)).containsExactlyElementsOf(whole);
            }
        }
    }

    /** The entries that have at least one sample of the split. */
    private static List<ListEntry> expected(SampleIndex all, SampleIndex split, String prefix, String delimiter)
            throws IOException {
        List<ListEntry> expected = new ArrayList<>();
        for (ListEntry entry : entries(all.list(prefix, delimiter))) {
            boolean isThere = false;
            for (ListEntry sample : entries(all.list(entry.name(), ""))) {
                boolean isInEntry = entry.isPrefix() || sample.name().equals(entry.name());
                isThere |= isInEntry && split.stat(sample.name()).isPresent();
            }
            if (isThere) {
                expected.add(entry);
            }
        }
        return expected;
    }

    @Test
    void theHeadsOfChunksGiveTheSamplesOfASplit() throws IOException {
        check();
    }

    @Test
    void runsGiveTheSamplesOfASplit() throws Exception {
        new IndexBuild(dataset.dataset(), BuildThreads.ofCaller(), read -> {}).update();
        check();
    }

    @Test
    void anIndexThatNamesAnotherRowIsNotUsedAnyMore() throws Exception {
        new IndexBuild(dataset.dataset(), BuildThreads.ofCaller(), read -> {}).update();
        SampleIndex index =
                SampleIndex.open(dataset.dataset(), dataset.dataset().snapshot());
        SampleStat stat = index.stat("top 1").orElseThrow();
        int runs = index.runs();
        index.refute(new SampleStat("top 1", stat.split(), stat.ordinal(), stat.row() + 1, 0, 0));
        assertThat(index.runs()).isEqualTo(runs);
        index.refute(stat);
        assertThat(index.runs()).isLessThan(runs);
        assertThat(index.stat("top 1")).contains(stat);
    }

    /** A chunk, for comparison. */
    private record Head(ChunkHead head) implements ConfirmedSample.Chunk {}

    @Test
    void aSampleIsComparedWithTheHeadOfItsChunk() throws Exception {
        new IndexBuild(dataset.dataset(), BuildThreads.ofCaller(), read -> {}).update();
        Snapshot snapshot = dataset.dataset().snapshot();
        SampleIndex index = SampleIndex.open(dataset.dataset(), snapshot);
        SampleStat stat = index.stat("top 1").orElseThrow();
        SampleStat wrong = new SampleStat("top 1", stat.split(), stat.ordinal(), stat.row() + 1, 0, 0);
        ConfirmedSample.Chunks<Head> chunks = at -> new Head(
                ChunkHeads.read(store, snapshot.table(), snapshot.table().indexOf(at.ordinal())));

        assertThat(ConfirmedSample.require(index, stat, chunks).stat()).isEqualTo(stat);
        assertThat(ConfirmedSample.require(index, wrong, chunks).stat()).isEqualTo(stat);
        SampleStat gone = new SampleStat("gone", stat.split(), stat.ordinal(), stat.row(), 0, 0);
        assertThat(ConfirmedSample.of(index, gone, chunks)).isEmpty();
        assertThatThrownBy(() -> ConfirmedSample.require(index, gone, chunks))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("'gone', which the version does not have");
        int other = snapshot.table().indexOf(stat.ordinal()) == 0 ? 1 : 0;
        ChunkHead foreign = ChunkHeads.read(store, snapshot.table(), other);
        assertThatThrownBy(() -> ConfirmedSample.of(index, stat, at -> new Head(foreign)))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("'top 1'");
    }
}
