package dev.stoker.metadata.removal;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.UnknownSplitException;
import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.commit.Removal;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SampleRemovalTest {

    private final InMemoryObjectStore store = new InMemoryObjectStore(CLOCK);
    private Dataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(store, info());
        append(
                "a",
                write(store, id(1), "a", "train", "cat/1", "dog/1", "cat/2"),
                write(store, id(2), "a", "val", "dog/2"),
                write(store, id(3), "a", "train", "cat/3", "cat/4"));
    }

    private void append(String ingest, ChunkSummary... chunks) throws IOException {
        committer(dataset)
                .commit(VersionRequest.append(
                        ingest, List.of(chunks), Map.of("label", List.of("cat", "dog")), Map.of()));
    }

    private Commit commit(String ingest, Removal removal) throws IOException {
        return committer(dataset).commit(VersionRequest.remove(ingest, removal, Map.of()));
    }

    private Commit remove(String ingest, String... keys) throws IOException {
        return commit(ingest, SampleRemoval.ofKeys(dataset, List.of(keys)));
    }

    private SampleRemoval removal(SampleRule rule) {
        return new SampleRemoval(dataset, rule, 2, chunks -> {});
    }

    private static SampleRule prefix(String prefix) {
        return new SampleRule(
                Set.of(), List.of(prefix), Optional.empty(), Optional.empty(), SampleRule.MissingKeys.FAIL);
    }

    @Test
    void removesSamplesByKey() throws IOException {
        Commit commit = remove("b", "cat/2", "dog/2", "dog/1");

        assertThat(commit.entry().removed()).containsExactly(RemovedRows.of(0, 1, 2), RemovedRows.wholeChunk(1));
        assertThat(dataset.snapshot().table().liveRows()).isEqualTo(3);
        assertThat(dataset.snapshot().splits()).containsExactly("train");
        assertThat(dataset.snapshot(1).table().liveRows()).isEqualTo(6);
        assertThat(dataset.snapshot().stream("train").removedRows(0)).containsExactly(1, 2);
    }

    @Test
    void anUnknownKeyIsNamed() {
        assertThatThrownBy(() -> remove("b", "cat/1", "cow/2", "cow/1"))
                .isInstanceOf(UnknownKeyException.class)
                .hasMessage("Version 1 of dataset photos has no sample 'cow/1', nor 1 other of the given keys");
    }

    @Test
    void aKeyIsRemovedOnce() throws IOException {
        remove("b", "cat/1");

        assertThatThrownBy(() -> remove("c", "cat/1")).isInstanceOf(UnknownKeyException.class);
        assertThat(dataset.latestVersion()).isEqualTo(2);
    }

    @Test
    void unknownKeysCanBeIgnored() throws IOException {
        SampleRule rule = new SampleRule(
                Set.of("cat/1", "cow/1"), List.of(), Optional.empty(), Optional.empty(), SampleRule.MissingKeys.IGNORE);

        assertThat(removal(rule).plan(dataset.snapshot()).missing()).isEqualTo(1);
        assertThat(commit("b", removal(rule)).entry().removed()).containsExactly(RemovedRows.of(0, 0));
        assertThatThrownBy(() -> commit("c", removal(rule)))
                .isInstanceOf(NothingToRemoveException.class)
                .hasMessage("Version 2 of dataset photos has none of the samples; nothing was committed");
        assertThat(dataset.latestVersion()).isEqualTo(2);
    }

    @Test
    void aPrefixAndASplitSelectSamples() throws IOException {
        SampleRule rule = new SampleRule(
                Set.of(), List.of("dog/"), Optional.of("train"), Optional.empty(), SampleRule.MissingKeys.FAIL);

        assertThat(removal(rule).plan(dataset.snapshot()))
                .isEqualTo(new RemovalPlan(1, List.of(new SplitChange("train", 1, 5, 1)), List.of("dog/1"), 0));
        assertThat(commit("b", removal(rule)).entry().removed()).containsExactly(RemovedRows.of(0, 1));
    }

    @Test
    void anUnknownSplitIsNamed() {
        SampleRule rule =
                new SampleRule(Set.of(), List.of(), Optional.of("test"), Optional.empty(), SampleRule.MissingKeys.FAIL);

        assertThatThrownBy(() -> commit("b", removal(rule))).isInstanceOf(UnknownSplitException.class);
    }

    @Test
    void aKeyOfAnotherSplitIsUnknown() {
        SampleRule rule = new SampleRule(
                Set.of("dog/2"), List.of(), Optional.of("train"), Optional.empty(), SampleRule.MissingKeys.FAIL);

        assertThatThrownBy(() -> commit("b", removal(rule))).isInstanceOf(UnknownKeyException.class);
    }

    /** Compares the payload with a text. */
    private record HasImage(String image) implements SampleCondition {
        @Override
        public boolean readsPayload() {
            return true;
        }

        @Override
        public boolean matches(ChunkHead head, @Nullable ByteBuffer file, int row) {
            byte[] bytes = new byte[head.payloadLength(1, row)];
            assertThat(file).isNotNull();
            file.duplicate().get(head.payloadPosition(1, row), bytes);
            return new String(bytes, StandardCharsets.UTF_8).equals(image);
        }
    }

    @Test
    void aConditionReadsThePayloadIfItNeedsIt() throws IOException {
        Supplier<SampleCondition> condition = () -> new HasImage("image of cat/4");
        SampleRule rule = new SampleRule(
                Set.of(), List.of("cat/"), Optional.empty(), Optional.of(condition), SampleRule.MissingKeys.FAIL);

        assertThat(removal(rule).plan(dataset.snapshot()).firstKeys()).containsExactly("cat/4");
        assertThat(commit("b", removal(rule)).entry().removed()).containsExactly(RemovedRows.of(2, 1));
    }

    @Test
    void aKeyThatTheConditionExcludesIsNotMissing() throws IOException {
        Supplier<SampleCondition> condition = () -> new HasImage("image of cat/1");
        SampleRule rule = new SampleRule(
                Set.of("cat/1", "cat/2"),
                List.of(),
                Optional.empty(),
                Optional.of(condition),
                SampleRule.MissingKeys.FAIL);

        assertThat(removal(rule).plan(dataset.snapshot()).firstKeys()).containsExactly("cat/1");
    }

    @Test
    void aRuleWithoutAnySelectionIsRefused() {
        assertThatThrownBy(() -> SampleRule.ofKeys(List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("selects all");
    }

    @Test
    void thePlanListsTheFirstTenKeysInTheOrderOfTheChunks() throws IOException {
        List<String> keys = new ArrayList<>();
        for (int i = 10; i < 30; i++) {
            keys.add("cat/" + i);
        }
        append("b", write(store, id(4), "b", "train", keys.toArray(String[]::new)));

        RemovalPlan plan = removal(prefix("cat/")).plan(dataset.snapshot());

        assertThat(plan.removed()).isEqualTo(24);
        assertThat(plan.firstKeys()).hasSize(10).startsWith("cat/1", "cat/2", "cat/3", "cat/4", "cat/10");
    }

    @Test
    void aVersionThatCommitsMeanwhileLosesItsSamplesAsWell() throws IOException {
        AtomicInteger reads = new AtomicInteger();
        SampleRemoval removal = new SampleRemoval(dataset, prefix("dog/"), 2, reads::addAndGet);
        AtomicInteger tries = new AtomicInteger();
        Removal beside = base -> {
            List<RemovedRows> rows = removal.from(base);
            if (tries.getAndIncrement() == 0) {
                append("b", write(store, id(4), "b", "train", "dog/3", "cat/9"));
            }
            return rows;
        };

        Commit commit = commit("c", beside);

        assertThat(commit.version()).isEqualTo(3);
        assertThat(commit.entry().removed())
                .containsExactly(RemovedRows.of(0, 1), RemovedRows.wholeChunk(1), RemovedRows.of(3, 0));
        assertThat(reads).as("each head is read once").hasValue(4);
        Snapshot newest = dataset.snapshot();
        assertThat(newest.table().liveRows()).isEqualTo(5);
    }

    @Test
    void aDamagedChunkIsNamedAndNothingIsCommitted() throws IOException {
        String name = ChunkNames.path(id(3));
        byte[] content = store.readAll(name, 1 << 20);
        content[100] ^= 1;
        store.corrupt(name, content);

        assertThatThrownBy(() -> commit("b", removal(prefix("dog/"))))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining(id(3).toString());
        assertThat(dataset.latestVersion()).isEqualTo(1);
    }
}
