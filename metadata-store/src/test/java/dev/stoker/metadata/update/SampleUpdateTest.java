package dev.stoker.metadata.update;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.commit.CommitUnknownException;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.compaction.CompactionFailedException;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.removal.RemovalPlan;
import dev.stoker.metadata.removal.SampleCondition;
import dev.stoker.metadata.removal.SampleRemoval;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.metadata.removal.SplitChange;
import dev.stoker.metadata.removal.UnknownKeyException;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.log.UpdatedChunk;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SampleUpdateTest extends UpdateFixture {

    @Test
    void updatesFieldsByKeyAndLeavesOlderVersionsAlone() throws Exception {
        Commit commit = commit("u", "dog/1", "wolf", "cat/4", "lynx");

        assertThat(commit.entry().operation()).isEqualTo(Operation.UPDATE);
        assertThat(commit.entry().updated()).extracting(UpdatedChunk::ordinal).containsExactly(0L, 2L);
        assertThat(commit.entry().added()).isEmpty();
        assertThat(commit.entry().classes().get("label")).containsExactly("cat", "lynx", "wolf");
        assertThat(labels(2))
                .containsEntry("dog/1", "wolf")
                .containsEntry("cat/4", "lynx")
                .containsEntry("cat/1", "cat")
                .containsEntry("dog/2", "dog")
                .hasSize(6);
        assertThat(labels(1)).containsEntry("dog/1", "dog").containsEntry("cat/4", "cat");
        assertThat(dataset.snapshot().classes().names("label")).containsExactly("cat", "dog", "lynx", "wolf");
        assertThat(overlays()).hasSize(2);
        assertThat(problems()).isEmpty();
        assertThat(new Leases(dataset).all()).isEmpty();
    }

    @Test
    void anUpdateOfAnUpdateMergesTheOverlays() throws Exception {
        commit("u1", "dog/1", "wolf", "cat/4", "lynx");
        commit("u2", "cat/1", "tiger");

        assertThat(labels(3))
                .containsEntry("dog/1", "wolf")
                .containsEntry("cat/1", "tiger")
                .containsEntry("cat/4", "lynx");
        assertThat(labels(2)).containsEntry("cat/1", "cat").containsEntry("dog/1", "wolf");
        assertThat(overlays()).hasSize(3);
        assertThat(problems()).isEmpty();
    }

    @Test
    void theLargestRowGrowsWithTheValues() throws Exception {
        long before = dataset.snapshot().table().largestRow(0);
        // A class id takes four bytes, whatever its name.
        commit("u", "dog/1", "a very long name of a class");
        assertThat(dataset.snapshot().table().largestRow(0)).isEqualTo(before);
    }

    @Test
    void valuesThatSamplesHaveAlreadyChangeNothing() throws Exception {
        UpdatePlan plan = update(SampleRule.MissingKeys.FAIL, "dog/1", "dog", "cat/1", "cat")
                .plan(dataset.snapshot());
        assertThat(plan.updated()).isZero();
        assertThat(plan.same()).isEqualTo(2);

        assertThatThrownBy(() -> commit("u", "dog/1", "dog"))
                .isInstanceOf(NothingToUpdateException.class)
                .hasMessageContaining("version 1 of dataset photos has these values already");
        assertThat(dataset.latestVersion()).isEqualTo(1);
        assertThat(overlays()).isEmpty();
        // Only the chunk with another value gets an overlay.
        Commit commit = commit("u2", "dog/1", "dog", "cat/4", "lynx");
        assertThat(commit.entry().updated()).extracting(UpdatedChunk::ordinal).containsExactly(2L);
    }

    @Test
    void unknownKeysAreNamedOrIgnored() throws Exception {
        assertThatThrownBy(() -> commit("u", "dog/1", "wolf", "x", "y", "no", "y"))
                .isInstanceOf(UnknownKeyException.class)
                .hasMessageContaining("no sample 'no', nor 1 other of the given keys");
        assertThat(overlays()).isEmpty();
        assertThat(new Leases(dataset).all()).isEmpty();

        SampleUpdate ignoring = update(SampleRule.MissingKeys.IGNORE, "dog/1", "wolf", "x", "y");
        UpdatePlan plan = ignoring.plan(dataset.snapshot());
        assertThat(plan.missing()).isEqualTo(1);
        assertThat(plan.firstKeys()).containsExactly("dog/1");
        assertThat(plan.splits()).containsExactly(new SplitChange("train", 1, 5, 1));
        ignoring.commit("u", CLOCK, "ada@host");
        assertThat(labels(2)).containsEntry("dog/1", "wolf");
    }

    @Test
    void aRepeatedUpdateCommitsOnce() throws Exception {
        commit("u", "dog/1", "wolf");
        Commit second = commit("u", "dog/1", "fox");

        assertThat(second.repeated()).isTrue();
        assertThat(dataset.latestVersion()).isEqualTo(2);
        assertThat(labels(2)).containsEntry("dog/1", "wolf");
        assertThat(overlays()).hasSize(1);
    }

    @Test
    void deletedSamplesAreNotUpdated() throws Exception {
        committer(dataset)
                .commit(VersionRequest.remove("r", SampleRemoval.ofKeys(dataset, List.of("dog/1")), Map.of()));

        assertThatThrownBy(() -> commit("u", "dog/1", "wolf")).isInstanceOf(UnknownKeyException.class);
        commit("u", "cat/1", "tiger");
        assertThat(labels(3)).containsEntry("cat/1", "tiger").doesNotContainKey("dog/1");
        assertThat(problems()).isEmpty();
    }

    /** Updates; when it is about to publish, another commits. */
    private Commit contested(Contender contender, String... keysAndLabels) throws IOException {
        FaultyObjectStore watched = watched(new AtomicBoolean(), contender);
        return new SampleUpdate(
                        Dataset.open(watched), labels(keysAndLabels), SampleRule.MissingKeys.FAIL, 2, chunks -> {})
                .commit("mine", CLOCK, "ada@host");
    }

    @ParameterizedTest
    @EnumSource(names = {"AWAY", "CRASH_BEFORE"})
    void aCommitThatFailsAfterItsEntryWasWrittenKeepsItsOverlays(Fault readBack) throws Exception {
        FaultyObjectStore faulty = new FaultyObjectStore(store);
        String entry = DatasetLayout.logEntry(2);
        SampleUpdate update = new SampleUpdate(
                Dataset.open(faulty), labels("dog/1", "wolf"), SampleRule.MissingKeys.FAIL, 2, chunks -> {});
        boolean[] created = {false};
        faulty.once(
                call -> call.operation() == FaultyObjectStore.Operation.CREATE
                        && call.name().equals(entry)
                        && (created[0] = true),
                Fault.FAIL_AFTER);
        faulty.once(
                call -> created[0]
                        && call.operation() == FaultyObjectStore.Operation.READ_ALL
                        && call.name().equals(entry),
                readBack);

        assertThatThrownBy(() -> update.commit("u", CLOCK, "ada@host"))
                .isInstanceOfAny(CommitUnknownException.class, FaultyObjectStore.SimulatedCrash.class);

        assertThat(dataset.latestVersion()).isEqualTo(2);
        assertThat(labels(2)).containsEntry("dog/1", "wolf");
        assertThat(problems()).isEmpty();
    }

    @Test
    void anAppendMeanwhileIsKept() throws Exception {
        contested(() -> append("b", write(store, id(4), "b", "train", "dog/9")), "dog/1", "wolf");

        assertThat(labels(3)).containsEntry("dog/1", "wolf").containsEntry("dog/9", "dog");
        assertThat(overlays()).hasSize(1);
    }

    @Test
    void anotherUpdateMeanwhileIsKept() throws Exception {
        contested(() -> commit("other", "cat/1", "tiger", "dog/1", "fox"), "dog/1", "wolf", "cat/4", "lynx");

        assertThat(labels(3))
                .containsEntry("dog/1", "wolf")
                .containsEntry("cat/1", "tiger")
                .containsEntry("cat/4", "lynx");
        // The overlay of the first attempt on chunk 0 was deleted; that on chunk 2 was used.
        assertThat(overlays()).hasSize(3);
        assertThat(problems()).isEmpty();
    }

    @Test
    void aDeletionMeanwhileIsKept() throws Exception {
        contested(
                () -> committer(dataset)
                        .commit(VersionRequest.remove(
                                "r", SampleRemoval.ofKeys(dataset, List.of("cat/1", "dog/2")), Map.of())),
                "dog/1",
                "wolf");

        assertThat(labels(3))
                .containsEntry("dog/1", "wolf")
                .doesNotContainKeys("cat/1", "dog/2")
                .hasSize(4);
    }

    @Test
    void aDeletionOfAGivenSampleMeanwhileIsReported() throws Exception {
        assertThatThrownBy(() -> contested(
                        () -> committer(dataset)
                                .commit(VersionRequest.remove(
                                        "r", SampleRemoval.ofKeys(dataset, List.of("cat/3")), Map.of())),
                        "cat/3",
                        "x"))
                .isInstanceOf(UnknownKeyException.class)
                .hasMessageContaining("Version 2 of dataset photos has no sample 'cat/3'");

        assertThat(dataset.latestVersion()).isEqualTo(2);
        assertThat(overlays()).isEmpty();
        assertThat(new Leases(dataset).all()).isEmpty();
    }

    @Test
    void aCompactionPutsTheValuesIntoTheNewChunks() throws Exception {
        commit("u", "dog/1", "wolf", "cat/4", "lynx");
        Map<String, String> before = labels(2);

        compact(dataset);

        assertThat(dataset.entry(3).operation()).isEqualTo(Operation.COMPACT);
        assertThat(dataset.snapshot().table().overlays()).isEmpty();
        assertThat(labels(3)).isEqualTo(before);
        assertThat(problems()).isEmpty();
        commit("u2", "dog/1", "fox");
        assertThat(labels(4)).containsEntry("dog/1", "fox").containsEntry("cat/4", "lynx");
    }

    @Test
    void aCompactionMeanwhileIsUpdated() throws Exception {
        contested(
                () -> {
                    try {
                        compact(dataset);
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                },
                "dog/1",
                "wolf");

        assertThat(dataset.entry(2).operation()).isEqualTo(Operation.COMPACT);
        assertThat(labels(3)).containsEntry("dog/1", "wolf").containsEntry("cat/1", "cat");
        assertThat(overlays()).hasSize(1);
    }

    @Test
    void aCompactionDoesNotLoseAnUpdateMeanwhile() throws Exception {
        append("b", write(store, id(5), "b", "train", "cat/7", "cat/8"), write(store, id(6), "b", "train", "cat/9"));
        AtomicBoolean done = new AtomicBoolean();
        FaultyObjectStore watched = watched(done, () -> commit("u", "dog/1", "wolf"));

        assertThatThrownBy(() -> compact(Dataset.open(watched))).isInstanceOf(CompactionFailedException.class);

        assertThat(labels(dataset.latestVersion()))
                .containsEntry("dog/1", "wolf")
                .hasSize(9);
        assertThat(problems()).isEmpty();
    }

    private static RemovalPlan planOf(Snapshot base, Dataset dataset, String label) throws IOException {
        SampleRule rule = new SampleRule(
                Set.of(),
                List.of(),
                Optional.empty(),
                Optional.of(() -> condition(label)),
                SampleRule.MissingKeys.FAIL);
        return new SampleRemoval(dataset, rule, 1, n -> {}).plan(base);
    }

    private static SampleCondition condition(String label) {
        return new SampleCondition() {
            @Override
            public boolean readsPayload() {
                return label.startsWith("w");
            }

            @Override
            public boolean matches(ChunkHead head, @Nullable ByteBuffer file, int row) {
                return head.classes(0).get(head.column(0).intAt(row)).equals(label);
            }
        };
    }

    @Test
    void aDeletionThatIsRetriedAfterAnUpdateSeesTheNewValues() throws Exception {
        SampleRule rule = new SampleRule(
                Set.of(),
                List.of(),
                Optional.empty(),
                Optional.of(() -> condition("dog")),
                SampleRule.MissingKeys.FAIL);
        SampleRemoval removal = new SampleRemoval(dataset, rule, 1, n -> {});
        assertThat(removal.plan(dataset.snapshot(1)).removed()).isEqualTo(2);
        commit("u", "dog/1", "wolf", "cat/4", "dog");

        assertThat(removal.plan(dataset.snapshot(2)).firstKeys()).containsExactly("dog/2", "cat/4");
    }

    @Test
    void conditionsOfDeletionsSeeTheValuesOfTheirVersion() throws Exception {
        commit("u", "dog/1", "wolf", "cat/4", "lynx");

        assertThat(planOf(dataset.snapshot(2), dataset, "wolf").firstKeys()).containsExactly("dog/1");
        assertThat(planOf(dataset.snapshot(2), dataset, "lynx").firstKeys()).containsExactly("cat/4");
        assertThat(planOf(dataset.snapshot(2), dataset, "dog").firstKeys()).containsExactly("dog/2");
        assertThat(planOf(dataset.snapshot(1), dataset, "dog").firstKeys()).containsExactly("dog/1", "dog/2");
    }
}
