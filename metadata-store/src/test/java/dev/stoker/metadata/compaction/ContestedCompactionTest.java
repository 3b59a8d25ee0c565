package dev.stoker.metadata.compaction;

import static dev.stoker.metadata.compaction.CompactionTest.RULES;
import static dev.stoker.metadata.compaction.CompactionTest.compaction;
import static dev.stoker.metadata.compaction.Crumbs.CLOCK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.metadata.gc.Orphans;
import dev.stoker.metadata.removal.SampleRemoval;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Others commit while a compaction runs, or it dies. */
class ContestedCompactionTest {

    private InMemoryObjectStore store;
    private Crumbs crumbs;
    private Dataset dataset;

    private interface Contender {
        void commit() throws Exception;
    }

    @BeforeEach
    void create() throws IOException {
        store = new InMemoryObjectStore(CLOCK);
        crumbs = new Crumbs(store, 11);
        dataset = crumbs.dataset();
        for (int n = 0; n < 4; n++) {
            crumbs.ingest("train", 200, 3, 2);
            crumbs.ingest("val", 200, 2);
        }
    }

    /** Compacts; when it is about to publish, another commits. */
    private CompactionResult contested(Contender contender) throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        FaultyObjectStore watched = new FaultyObjectStore(store)
                .on(
                        call -> {
                            if (call.operation() == FaultyObjectStore.Operation.CREATE
                                    && call.name().startsWith("_stoker/log/")
                                    && done.compareAndSet(false, true)) {
                                try {
                                    contender.commit();
                                } catch (Exception e) {
                                    throw new AssertionError(e);
                                }
                            }
                            return false;
                        },
                        Fault.FAIL_BEFORE);
        Dataset seen = Dataset.open(watched);
        return compaction(seen, "mine").run(CompactionPlan.of(seen.snapshot(), RULES));
    }

    private void isWhole() throws IOException, InterruptedException {
        assertThat(new Verification(dataset, Runnable::run, 1, bytes -> {})
                        .run(dataset.snapshot())
                        .problems())
                .isEmpty();
        assertThat(Orphans.find(dataset, CLOCK)).isEmpty();
    }

    @Test
    void anIngestMeanwhileIsKept() throws Exception {
        Map<String, String> samples = new HashMap<>(Crumbs.samples(dataset, 8));

        CompactionResult result = contested(() -> crumbs.ingest("train", 200, 5));

        assertThat(dataset.entry(9).operation()).isEqualTo(Operation.INGEST);
        LogEntry entry = result.entry().orElseThrow();
        assertThat(entry.version()).isEqualTo(10);
        assertThat(entry.added().get(0).ordinal()).isEqualTo(13);
        samples.putAll(Crumbs.samples(dataset, 9));
        assertThat(Crumbs.samples(dataset, 10)).isEqualTo(samples).hasSize(33);
        isWhole();
    }

    @Test
    void chunksThatLostRowsMeanwhileAreLeftAsTheyAre() throws Exception {
        CompactionResult result = contested(() -> crumbs.committer()
                .commit(VersionRequest.remove("r", SampleRemoval.ofKeys(dataset, List.of("ingest-0/1/0")), Map.of())));

        Map<String, String> samples = Crumbs.samples(dataset, 9);
        assertThat(samples).hasSize(27).doesNotContainKey("ingest-0/1/0");
        assertThat(result.leftOut()).isEqualTo(8);
        assertThat(result.entry().orElseThrow().removed()).hasSize(4);
        assertThat(Crumbs.samples(dataset, 10)).isEqualTo(samples);
        isWhole();
    }

    @Test
    void chunksThatLostRowsBeforeTheLeaseAreNotCopied() throws Exception {
        FaultyObjectStore watched = new FaultyObjectStore(store);
        Dataset seen = Dataset.open(watched);
        CompactionPlan plan = CompactionPlan.of(seen.snapshot(), RULES);
        crumbs.committer()
                .commit(VersionRequest.remove("r", SampleRemoval.ofKeys(dataset, List.of("ingest-0/1/0")), Map.of()));
        watched.reset();

        CompactionResult result = compaction(seen, "mine").run(plan);

        assertThat(result.leftOut()).isEqualTo(8);
        String lost = ChunkNames.path(dataset.snapshot().table().id(0));
        assertThat(watched.calls()).noneMatch(call -> call.name().equals(lost));
        assertThat(Crumbs.samples(dataset, 10)).hasSize(27).doesNotContainKey("ingest-0/1/0");
        isWhole();
    }

    @Test
    void whereAllWasChangedMeanwhileNothingIsCommitted() throws Exception {
        assertThatThrownBy(() -> contested(() -> crumbs.committer()
                        .commit(VersionRequest.remove(
                                "r", base -> List.of(RemovedRows.wholeChunk(0), RemovedRows.wholeChunk(2)), Map.of()))))
                .isInstanceOf(CompactionFailedException.class)
                .hasMessageContainingAll("up to version 9", "nothing was committed");

        assertThat(dataset.latestVersion()).isEqualTo(9);
        isWhole();
    }

    @Test
    void ofTwoCompactionsOfTheSameChunksOneCommits() throws Exception {
        Map<String, String> samples = Crumbs.samples(dataset, 8);

        assertThatThrownBy(() ->
                        contested(() -> compaction(dataset, "other").run(CompactionPlan.of(dataset.snapshot(), RULES))))
                .isInstanceOf(CompactionFailedException.class);

        assertThat(dataset.latestVersion()).isEqualTo(9);
        assertThat(Crumbs.samples(dataset, 9)).isEqualTo(samples);
        isWhole();
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"FAIL_AFTER", "UNKNOWN_AFTER_EFFECT", "FLIPPED_BIT", "CRASH_AFTER"})
    void aFaultAtAnyStepLeavesNothingOrOneVersion(Fault fault) throws Exception {
        boolean reached = true;
        int published = 0;
        int step = 0;
        for (; reached; step++) {
            store = new InMemoryObjectStore(CLOCK);
            crumbs = new Crumbs(store, 12);
            dataset = crumbs.dataset();
            crumbs.ingest("train", 100, 2);
            crumbs.ingest("train", 100, 3);
            Map<String, String> samples = Crumbs.samples(dataset, 2);
            // Faults in writes of a chunk are not tested: they have the effect of a fault at its end.
            int at = step;
            AtomicInteger calls = new AtomicInteger();
            FaultyObjectStore faulty = new FaultyObjectStore(store)
                    .on(
                            call -> call.operation() != FaultyObjectStore.Operation.WRITE
                                    && calls.getAndIncrement() == at,
                            fault);
            try {
                Dataset seen = Dataset.open(faulty);
                compaction(seen, "mine").run(CompactionPlan.of(seen.snapshot(), RULES));
            } catch (IOException | FaultyObjectStore.SimulatedCrash e) {
                // The test injects these faults.
            }
            reached = calls.get() > step;

            String where = fault + " at call " + step;
            long version = dataset.latestVersion();
            assertThat(version).as(where).isIn(2L, 3L);
            published += version == 3 ? 1 : 0;
            assertThat(Crumbs.samples(dataset, version)).as(where).isEqualTo(samples);

            // Delete the leftovers, then run again with the same id.
            GarbageCollection.plan(dataset, Duration.ZERO, CLOCK).apply();
            CompactionResult again = compaction(dataset, "mine").run(CompactionPlan.of(dataset.snapshot(), RULES));
            GarbageCollection.plan(dataset, Duration.ZERO, CLOCK).apply();
            assertThat(again.isRepeated()).as(where).isEqualTo(version == 3);
            assertThat(dataset.latestVersion()).as(where).isEqualTo(3);
            assertThat(Crumbs.samples(dataset, 3)).as(where).isEqualTo(samples);
            isWhole();
        }
        assertThat(step).isGreaterThan(15);
        assertThat(published).isPositive();
    }
}
