package dev.stoker.metadata.update;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.compaction.CompactionRules;
import dev.stoker.metadata.compaction.CompactionThreads;
import dev.stoker.metadata.copy.CopyResult;
import dev.stoker.metadata.copy.CopyRule;
import dev.stoker.metadata.copy.DatasetCopy;
import dev.stoker.metadata.erasure.ErasureCheck;
import dev.stoker.metadata.erasure.ErasurePlanner;
import dev.stoker.metadata.erasure.ErasureRun;
import dev.stoker.metadata.erasure.ErasureWork;
import dev.stoker.metadata.gc.Expiry;
import dev.stoker.metadata.index.build.BuildThreads;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.metadata.selection.Selections;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectInfo;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Overlays in copies of a dataset, and after erasures. */
class OverlayElsewhereTest extends UpdateFixture {

    private final InMemoryObjectStore target = new InMemoryObjectStore(CLOCK);

    private CopyResult copy(CopyRule.Extra... extras) throws IOException {
        CopyRule rule = new CopyRule(OptionalLong.empty(), 2, Set.of(extras));
        return new DatasetCopy(dataset, target, rule, CLOCK, "eve", SampleDatasets.IGNORING).run();
    }

    private void requireSame(long... versions) throws Exception {
        Dataset there = Dataset.open(target);
        for (long version : versions) {
            assertThat(labels(there, version)).isEqualTo(labels(version));
        }
        assertThat(new Verification(there, Runnable::run, 1, bytes -> {})
                        .run(there.snapshot())
                        .problems())
                .isEmpty();
    }

    @Test
    void aCopyHasTheOverlaysOfItsVersions() throws Exception {
        commit("b", "cat/1", "dog", "dog/2", "cat");
        assertThat(copy().isComplete()).isTrue();
        requireSame(1, 2);

        commit("c", "cat/1", "cat", "cat/3", "dog");
        CopyResult result = copy();
        assertThat(result.isComplete()).isTrue();
        // The overlays of two chunks, the chunk table and no tag.
        assertThat(result.others().count()).isGreaterThanOrEqualTo(2);
        requireSame(1, 2, 3);
        assertThat(target.list("overlays/").toList())
                .extracting(ObjectInfo::name)
                .containsExactlyInAnyOrderElementsOf(overlays());
    }

    @Test
    void aVersionWhoseOverlayIsDamagedAtTheSourceIsNotCopied() throws Exception {
        commit("b", "dog/2", "cat");
        commit("c", "cat/1", "dog");
        String first = overlays().get(0);
        byte[] content = store.readAll(first, 1 << 20);
        byte[] bad = content.clone();
        bad[bad.length / 2] ^= 1;
        store.corrupt(first, bad);

        CopyResult result = copy();

        assertThat(result.isComplete()).isFalse();
        assertThat(result.problems())
                .singleElement()
                .satisfies(problem -> assertThat(problem.file()).contains(first));
        assertThat(Dataset.open(target).latestVersion()).isLessThan(3);
        store.corrupt(first, content);
        assertThat(copy().isComplete()).isTrue();
        requireSame(1, 2, 3);

        target.delete(first);
        target.createIfAbsent(first, bad);
        assertThat(copy(CopyRule.Extra.CHECKSUMS).isComplete()).isTrue();
        requireSame(1, 2, 3);
    }

    @Test
    void anOverlayThatOnlyExpiredVersionsHadIsNotMissed() throws Exception {
        commit("b", "dog/2", "cat");
        commit("c", "dog/2", "dog");
        Expiry.ofVersions(dataset, new TreeSet<>(Set.of(1L, 2L)), CLOCK).commit("expire", "eve");
        for (String overlay : overlays()) {
            if (!dataset.snapshot()
                    .table()
                    .overlays()
                    .contains(ChunkNames.idOfOverlay(overlay).orElseThrow())) {
                store.delete(overlay);
            }
        }
        assertThat(copy().isComplete()).isTrue();
        requireSame(3, 4);
    }

    @Test
    void anErasureDeletesTheOverlaysOfItsSamples() throws Exception {
        commit("b", "cat/1", "dog", "dog/2", "cat");
        commit("c", "cat/1", "person");
        store.createIfAbsent(DatasetLayout.SCRATCH + "left", "cat/1".getBytes(StandardCharsets.UTF_8));
        Selections.stream(store, dataset.snapshot(), "train", "label = 'person'");
        assertThat(store.list(DatasetLayout.FILTERS).toList()).hasSize(1);
        ErasureWork work = new ErasureWork(
                new CompactionRules(1 << 16, 1 << 16, OptionalLong.empty()),
                new CompactionThreads(1, 1, 1 << 24),
                BuildThreads.ofCaller(),
                CLOCK,
                "eve",
                chunk -> {});
        ErasureRun run = new ErasureRun(dataset, work);

        Erasure certificate = run.finish(run.begin(
                "erase-1",
                new ErasurePlanner(dataset, work).plan(SampleRule.ofKeys(List.of("cat/1")), Optional.empty())));

        for (ObjectInfo object : store.list("").toList()) {
            assertThat(new String(store.readAll(object.name(), 1 << 20), StandardCharsets.ISO_8859_1))
                    .as(object.name())
                    .doesNotContain("cat/1");
        }
        assertThat(store.list(DatasetLayout.FILTERS).toList()).isEmpty();
        assertThat(labels(dataset.latestVersion()))
                .containsEntry("dog/2", "cat")
                .containsEntry("cat/2", "cat")
                .doesNotContainKey("cat/1");
        assertThat(problems()).isEmpty();
        assertThat(check(certificate).findings()).isEmpty();

        append("again", write(store, id(9), "again", "train", "cat/1"));
        commit("d", "cat/1", "dog");
        assertThat(check(certificate).findings()).isEmpty();
        assertThat(check(certificate).again()).isNotEmpty();
    }

    private ErasureCheck.Report check(Erasure certificate) throws IOException {
        return new ErasureCheck(dataset, certificate, "certificate.json", 1, CLOCK, chunk -> {}).run();
    }
}
