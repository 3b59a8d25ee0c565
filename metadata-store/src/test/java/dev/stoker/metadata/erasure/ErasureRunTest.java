package dev.stoker.metadata.erasure;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.NOW;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.write;
import static dev.stoker.metadata.erasure.ErasableDataset.ANN;
import static dev.stoker.metadata.erasure.ErasableDataset.BOB;
import static dev.stoker.metadata.erasure.ErasableDataset.check;
import static dev.stoker.metadata.erasure.ErasableDataset.containing;
import static dev.stoker.metadata.erasure.ErasableDataset.erase;
import static dev.stoker.metadata.erasure.ErasableDataset.keys;
import static dev.stoker.metadata.erasure.ErasableDataset.plan;
import static dev.stoker.metadata.erasure.ErasableDataset.samples;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.ExpiredVersionException;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.compaction.Compaction;
import dev.stoker.metadata.compaction.CompactionPlan;
import dev.stoker.metadata.compaction.CompactionRules;
import dev.stoker.metadata.compaction.CompactionThreads;
import dev.stoker.metadata.gc.Expiry;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.metadata.gc.Orphans;
import dev.stoker.metadata.index.IndexCheck;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.removal.SampleCondition;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.dataset.ErasedChunk;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.dataset.ErasureResult;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ErasureRunTest {

    private InMemoryObjectStore store;
    private Dataset dataset;

    @BeforeEach
    void create() throws Exception {
        store = ErasableDataset.create();
        dataset = Dataset.open(store);
    }

    private void isWhole() throws IOException, InterruptedException {
        assertThat(new Verification(dataset, Runnable::run, 1, bytes -> {})
                        .run(dataset.snapshot())
                        .problems())
                .isEmpty();
        assertThat(Orphans.find(dataset, CLOCK)).isEmpty();
        assertThat(new IndexCheck(dataset, dataset.snapshot(), rows -> {}).run().differences())
                .isZero();
        assertThat(new Leases(dataset).all()).isEmpty();
    }

    @Test
    void noFileContainsAnErasedSampleAndAllOthersStay() throws Exception {
        Map<String, String> others = samples(store);
        others.remove("train:" + ANN);
        assertThat(others).hasSize(4);

        Erasure certificate = erase(store, ANN, BOB);

        assertThat(containing(store, Set.of("ann", "bob"))).isEmpty();
        assertThat(samples(store)).isEqualTo(others);
        isWhole();
        ErasureResult result = certificate.result().orElseThrow();
        // Version 5 removes, 6 compacts, 7 expires.
        assertThat(result.versions()).isEqualTo(new ErasureResult.Versions(5, 7, "1-5"));
        assertThat(result.removed()).extracting(ErasedChunk::id).containsExactly(id(1), id(3), id(4));
        assertThat(result.removed())
                .allSatisfy(chunk -> assertThat(chunk.length())
                        .isEqualTo(dataset.snapshot()
                                .table()
                                .summary(List.of(id(1), id(2), id(3), id(4)).indexOf(chunk.id()))
                                .length()));
        assertThat(result.rewritten())
                .isNotEmpty()
                .allSatisfy(chunk ->
                        assertThat(store.length(ChunkNames.path(chunk))).isPositive());
        assertThat(result.files())
                .allMatch(name -> name.startsWith("_stoker/index/"))
                .isNotEmpty();
        assertThat(certificate.keys().hashes()).hasSize(2);
        assertThat(new ErasureFiles(dataset).find("erase-1")).contains(certificate);
        assertThat(store.list("_stoker/erasures/").toList()).hasSize(1);
    }

    @Test
    void versionsWithDeletedChunksCannotBeOpened() throws Exception {
        erase(store, BOB);

        // Version 1 has no chunk with the sample.
        assertThat(dataset.snapshot(1).table().liveRows()).isEqualTo(4);
        for (long version = 2; version <= 4; version++) {
            long expired = version;
            assertThatThrownBy(() -> dataset.snapshot(expired)).isInstanceOf(ExpiredVersionException.class);
        }
        assertThat(dataset.snapshot(5).table().liveRows()).isEqualTo(5);
    }

    @Test
    void aSampleThatIsOnlyInOldFilesIsErasedWithoutARemoval() throws Exception {
        Map<String, String> before = samples(store);

        Erasure certificate = erase(store, BOB);

        // Version 5 compacts, 6 expires.
        assertThat(certificate.result().orElseThrow().versions()).isEqualTo(new ErasureResult.Versions(4, 6, "2-4"));
        assertThat(samples(store)).isEqualTo(before);
        assertThat(containing(store, Set.of("bob"))).isEmpty();
        isWhole();
    }

    @Test
    void thePlanChangesNothing() throws Exception {
        ErasurePlan plan = plan(store, keys(ANN, BOB));

        assertThat(plan.samples()).isEqualTo(1);
        assertThat(plan.others()).isEqualTo(2);
        assertThat(plan.files()).isEqualTo(3);
        assertThat(plan.rewritten()).isEqualTo(2);
        assertThat(plan.versions()).containsExactly(1L, 2L, 3L, 4L);
        assertThat(plan.blockers()).isEmpty();
        assertThat(dataset.latestVersion()).isEqualTo(4);
        assertThat(store.list("_stoker/erasures/").toList()).isEmpty();
    }

    @Test
    void anUnknownKeyErasesNothing() throws IOException {
        assertThatThrownBy(() -> erase(store, ANN, "cat/no", "cat/nope"))
                .isInstanceOf(UnerasableKeyException.class)
                .hasMessage("No chunk file of dataset photos has a sample 'cat/no', nor 1 other of the given keys;"
                        + " nothing was erased");
        assertThat(store.list("_stoker/erasures/").hasNext()).isFalse();
    }

    private record HasImage(Set<String> images) implements SampleCondition {
        @Override
        public boolean readsPayload() {
            return true;
        }

        @Override
        public boolean matches(ChunkHead head, @Nullable ByteBuffer file, int row) {
            byte[] bytes = new byte[head.payloadLength(1, row)];
            assertThat(file).isNotNull();
            file.duplicate().get(head.payloadPosition(1, row), bytes);
            return images.contains(new String(bytes, StandardCharsets.UTF_8));
        }
    }

    @Test
    void aConditionSelectsEarlierSamplesButNotKeysWithAnotherSampleNow() throws Exception {
        // The earlier image of ann satisfies the condition, the one of the newest version does not.
        SampleRule rule = new SampleRule(
                Set.of(),
                List.of(),
                Optional.empty(),
                Optional.of(() -> new HasImage(Set.of("image of cat/ann", "image of cat/bob"))),
                SampleRule.MissingKeys.FAIL);

        ErasurePlan plan = plan(store, rule);

        assertThat(plan.keys().selected()).containsExactly(BOB);
        assertThat(plan.keys().kept()).isEqualTo(1);
        erase(store, rule);
        assertThat(samples(store)).containsEntry("train:" + ANN, ErasableDataset.NEW_ANN);
        assertThat(containing(store, Set.of("bob"))).isEmpty();
    }

    @Test
    void severalErasuresFollowEachOther() throws Exception {
        erase(store, ANN);
        erase(store, "dog/1");
        erase(store, "dog/2", BOB);

        assertThat(samples(store)).containsOnlyKeys("train:cat/2", "train:cat/3");
        assertThat(containing(store, Set.of("ann", "bob", "dog/"))).isEmpty();
        isWhole();
        for (Erasure certificate : new ErasureFiles(dataset).all()) {
            assertThat(check(store, certificate).findings()).isEmpty();
        }
    }

    @Test
    void anErasureOfEverythingLeavesAnEmptyVersion() throws Exception {
        erase(store, ANN, BOB, "dog/1", "dog/2", "cat/2", "cat/3");

        assertThat(samples(store)).isEmpty();
        assertThat(store.list("chunks/").toList()).isEmpty();
        assertThat(containing(store, Set.of("ann", "bob", "dog/", "cat/"))).isEmpty();
    }

    @Test
    void anAppendDuringTheErasureStaysAndIsReportedAsAddedAgain() throws Exception {
        ErasureRun run = new ErasureRun(dataset, ErasableDataset.work());
        Erasure erasure = run.begin("erase-1", plan(store, keys(ANN)));
        committer(dataset)
                .commit(VersionRequest.remove(
                        "erase-1",
                        new HashedRemoval(new ErasedRows(dataset, KeyTest.of(erasure.keys()), 1, chunk -> {})),
                        Map.of(CertificateOrigin.KEYS, "1")));
        ErasableDataset.append(dataset, "later", write(store, id(9), "later", "train", ANN));

        Erasure certificate = run.finish(erasure);

        assertThat(samples(store)).containsKey("train:" + ANN);
        ErasureCheck.Report report = check(store, certificate);
        assertThat(report.findings()).isEmpty();
        assertThat(report.again())
                .singleElement()
                .satisfies(finding -> assertThat(finding.message())
                        .isEqualTo("contains a sample with an erased key, added after the erasure in version 6"));
    }

    @Test
    void deadLettersAndListsOfSkippedSamplesThatNameAKeyArePurged() throws Exception {
        String letters = "_stoker/dead-letters/clicks/0/";
        // Keys and values in Base64: cat/ann; {"k":"cat/ann"}; dog/7.
        put(letters + "1.json", "{\"reason\":\"value\",\"message\":\"bad\",\"key\":\"Y2F0L2Fubg==\",\"value\":null}\n");
        put(letters + "2.json", "{\"reason\":\"field\",\"key\":null,\"value\":\"eyJrIjoiY2F0L2FubiJ9\"}\n");
        put(letters + "3.json", "{\"reason\":\"field\",\"message\":\"no 'cat/ann' here\",\"value\":null}\n");
        put(letters + "4.json", "{\"reason\":\"value\",\"key\":\"ZG9nLzc=\",\"value\":\"ZG9n\"}\n");
        String list = "_stoker/skipped/a/00000000-0000-0000-0000-000000000001.jsonl";
        put(list, "{\"file\":\"/in/cat/ann\",\"reason\":\"empty\"}\n{\"file\":\"/in/cat/x\",\"reason\":\"empty\"}\n");

        Erasure certificate = erase(store, ANN);

        assertThat(store.list(letters).toList()).extracting(o -> o.name()).containsExactly(letters + "4.json");
        assertThat(new String(store.readAll(list, 1000), StandardCharsets.UTF_8))
                .isEqualTo("{\"file\":\"/in/cat/x\",\"reason\":\"empty\"}\n");
        assertThat(certificate.result().orElseThrow().files())
                .contains(letters + "1.json", letters + "2.json", letters + "3.json", list)
                .doesNotContain(letters + "4.json");
        assertThat(check(store, certificate).findings()).isEmpty();
    }

    @Test
    void anErasureWhoseCommitsWereAbandonedCanBeFinished() throws Exception {
        ErasureRun run = new ErasureRun(dataset, ErasableDataset.work());
        Erasure erasure = run.begin("erase-1", plan(store, keys(ANN)));
        GarbageCollection.end(dataset, "erase-1", CLOCK, "ada");
        GarbageCollection.end(dataset, "compact-erase-1-1", CLOCK, "ada");
        GarbageCollection.end(dataset, "erase-1-expire-1", CLOCK, "ada");

        Erasure certificate = run.finish(erasure);

        assertThat(containing(store, Set.of("ann"))).isEmpty();
        assertThat(check(store, certificate).findings()).isEmpty();
    }

    @Test
    void anIdOfAnotherCommitIsRefused() throws Exception {
        ErasureRun run = new ErasureRun(dataset, ErasableDataset.work());

        assertThatThrownBy(() -> run.begin("d", plan(store, keys(ANN))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the id d is already in the log; use another id for the erasure");
        assertThat(store.list("_stoker/erasures/").hasNext()).isFalse();
    }

    private void put(String name, String text) {
        store.createIfAbsent(name, text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void theIndexLosesErasedKeysOfChunksThatWereCollectedBefore() throws Exception {
        CompactionRules rules = new CompactionRules(8 << 10, 16 << 10, OptionalLong.of(0));
        new Compaction(
                        dataset,
                        VersionRequest.COMPACTION + "all",
                        "ada@host",
                        CLOCK,
                        new CompactionThreads(1, 1, 1 << 20),
                        bytes -> {})
                .run(CompactionPlan.of(dataset.snapshot(), rules));
        Expiry.plan(dataset, new Expiry.Rule(Optional.empty(), OptionalLong.of(1)), CLOCK)
                .commit("expire", "ada@host");
        GarbageCollection.plan(dataset, Duration.ZERO, CLOCK).apply();
        assertThat(containing(store, Set.of(ANN)))
                .as("the new chunk, and the run with the rows of the old ones")
                .hasSize(2);

        Erasure certificate = erase(store, ANN);

        assertThat(containing(store, Set.of("ann"))).isEmpty();
        assertThat(check(store, certificate).findings()).isEmpty();
        assertThat(certificate.result().orElseThrow().removed())
                .extracting(ErasedChunk::id)
                .as("feeders may have copies of the collected ones")
                .contains(id(1), id(4));
        isWhole();
    }

    @Test
    void theUnfinishedRunOfAKilledErasureIsDeletedByTheNextAttempt() throws Exception {
        ErasureRun killed = new ErasureRun(dataset, ErasableDataset.work(() -> NOW.minusSeconds(60)));
        Erasure begun = killed.begin("erase-1", plan(store, keys(ANN)));
        store.write("_stoker/index/00000000000000000001-00000000000000000005.arrow");
        assertThat(store.listUnfinished("").hasNext()).isTrue();

        new ErasureRun(dataset, ErasableDataset.work(() -> NOW.plusSeconds(60))).finish(begun);

        assertThat(store.listUnfinished("").hasNext()).isFalse();
    }
}
