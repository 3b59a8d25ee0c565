package dev.stoker.metadata;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.place;
import static dev.stoker.metadata.SampleDatasets.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.AddedChunk;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Call;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.NoSpaceException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CommitterTest {

    private final InMemoryObjectStore memory = new InMemoryObjectStore(CLOCK);
    private final FaultyObjectStore faulty = new FaultyObjectStore(memory);
    private Dataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(memory, info());
        place(memory, 0, 20);
    }

    private Committer faultyCommitter() throws IOException {
        faulty.reset();
        return committer(Dataset.open(faulty));
    }

    private static CommitRequest append(String ingest, ChunkSummary... chunks) {
        return CommitRequest.append(ingest, List.of(chunks), Map.of(), Map.of());
    }

    private static Predicate<Call> creates(String name) {
        return call -> call.operation() == FaultyObjectStore.Operation.CREATE
                && call.name().equals(name);
    }

    @Test
    void commitsAnEntryAndItsCopy() throws IOException {
        Commit commit = committer(dataset)
                .commit(CommitRequest.append(
                        "photos-1",
                        List.of(summary(1, "train", 10), summary(2, "val", 3)),
                        Map.of("label", List.of("dog", "cat", "dog")),
                        Map.of("source", "/p")));

        assertThat(commit.version()).isEqualTo(1);
        assertThat(commit.repeated()).isFalse();
        LogEntry entry = dataset.entry(1);
        assertThat(entry).isEqualTo(commit.entry());
        assertThat(entry.operation()).isEqualTo(Operation.INGEST);
        assertThat(entry.committedMs()).isEqualTo(SampleDatasets.NOW.toEpochMilli());
        assertThat(entry.committedBy()).isEqualTo("ada@host");
        assertThat(entry.classes()).containsEntry("label", List.of("cat", "dog"));
        assertThat(entry.added()).extracting(AddedChunk::ordinal).containsExactly(0L, 1L);
        assertThat(memory.readAll(DatasetLayout.ingestCopy("photos-1"), 1 << 20))
                .isEqualTo(memory.readAll(DatasetLayout.logEntry(1), 1 << 20));
        assertThat(dataset.snapshot().table().summary(1)).isEqualTo(summary(2, "val", 3));
    }

    @Test
    void ordinalsContinue() throws IOException {
        committer(dataset).commit(append("a", summary(1, "train", 1), summary(2, "train", 1)));
        committer(dataset).commit(CommitRequest.remove("b", Removal.EVERYTHING, Map.of()));
        Commit third = committer(dataset).commit(append("c", summary(3, "train", 1)));

        assertThat(third.entry().added()).extracting(AddedChunk::ordinal).containsExactly(2L);
    }

    @Test
    void anIngestCommitsOnce() throws IOException {
        committer(dataset).commit(append("a", summary(1, "train", 1)));
        committer(dataset).commit(append("b", summary(2, "train", 1)));

        Commit again = committer(dataset).commit(append("a", summary(3, "train", 1)));

        assertThat(again.version()).isEqualTo(1);
        assertThat(again.repeated()).isTrue();
        assertThat(dataset.latestVersion()).isEqualTo(2);
        assertThat(committer(dataset).find("b").orElseThrow().version()).isEqualTo(2);
        assertThat(committer(dataset).find("c")).isEmpty();
    }

    @Test
    void replaceRemovesAllLiveChunks() throws IOException {
        committer(dataset).commit(append("a", summary(1, "train", 1), summary(2, "train", 1)));
        committer(dataset).commit(CommitRequest.remove("b", base -> List.of(RemovedRows.wholeChunk(0)), Map.of()));

        Commit commit = committer(dataset)
                .commit(CommitRequest.replace("c", List.of(summary(3, "train", 4)), Map.of(), Map.of()));

        assertThat(commit.entry().operation()).isEqualTo(Operation.REPLACE);
        assertThat(commit.entry().removed()).containsExactly(RemovedRows.wholeChunk(1));
        assertThat(dataset.snapshot().table().liveRows()).isEqualTo(4);
        assertThat(dataset.snapshot(1).table().liveRows()).isEqualTo(2);
    }

    /** Lets another ingest win the race for a version, when the committer is about to publish. */
    private void raceFor(long version, CommitRequest other) {
        boolean[] raced = {false};
        faulty.on(
                call -> {
                    if (!raced[0] && creates(DatasetLayout.logEntry(version)).test(call)) {
                        raced[0] = true;
                        try {
                            committer(dataset).commit(other);
                        } catch (IOException e) {
                            throw new AssertionError(e);
                        }
                    }
                    return false;
                },
                Fault.FAIL_BEFORE);
    }

    @Test
    void aLostRaceIsTriedAgainOnTheWinnersVersion() throws IOException {
        Committer committer = faultyCommitter();
        raceFor(1, append("other", summary(1, "train", 1), summary(2, "train", 1)));

        Commit commit =
                committer.commit(CommitRequest.replace("mine", List.of(summary(3, "val", 7)), Map.of(), Map.of()));

        assertThat(commit.version()).isEqualTo(2);
        assertThat(commit.entry().added()).extracting(AddedChunk::ordinal).containsExactly(2L);
        assertThat(commit.entry().removed()).extracting(RemovedRows::ordinal).containsExactly(0L, 1L);
        assertThat(faulty.calls())
                .filteredOn(call -> call.name().startsWith("chunks/"))
                .extracting(Call::operation)
                .containsExactly(FaultyObjectStore.Operation.LENGTH);
    }

    @Test
    void losingTheRaceToTheSameIngestIsItsCommit() throws IOException {
        Committer committer = faultyCommitter();
        raceFor(1, append("mine", summary(1, "train", 1)));

        Commit commit = committer.commit(append("mine", summary(1, "train", 1)));

        assertThat(commit.version()).isEqualTo(1);
        assertThat(commit.repeated()).isTrue();
        assertThat(dataset.latestVersion()).isEqualTo(1);
    }

    @Test
    void anUnknownOutcomeWithEffectIsFoundByReadingBack() throws IOException {
        Committer committer = faultyCommitter();
        faulty.once(creates(DatasetLayout.logEntry(1)), Fault.UNKNOWN_AFTER_EFFECT);

        assertThat(committer.commit(append("a", summary(1, "train", 1))).version())
                .isEqualTo(1);
        assertThat(dataset.latestVersion()).isEqualTo(1);
        assertThat(committer(dataset).find("a")).isPresent();
    }

    @Test
    void anUnknownOutcomeWithoutEffectIsTriedAgain() throws IOException {
        Committer committer = faultyCommitter();
        faulty.once(creates(DatasetLayout.logEntry(1)), Fault.UNKNOWN_WITHOUT_EFFECT);

        assertThat(committer.commit(append("a", summary(1, "train", 1))).version())
                .isEqualTo(1);
    }

    @Test
    void anUnknownOutcomeThatAnotherIngestWonIsALostRace() throws IOException {
        Committer committer = faultyCommitter();
        raceFor(1, append("other", summary(2, "train", 1)));
        faulty.once(creates(DatasetLayout.logEntry(1)), Fault.UNKNOWN_WITHOUT_EFFECT);

        assertThat(committer.commit(append("a", summary(1, "train", 1))).version())
                .isEqualTo(2);
    }

    @Test
    void anOutcomeThatStaysUnknownSaysWhatToDo() throws IOException {
        Committer committer = faultyCommitter();
        faulty.on(creates(DatasetLayout.logEntry(1)), Fault.UNKNOWN_WITHOUT_EFFECT);

        assertThatThrownBy(() -> committer.commit(append("a", summary(1, "train", 1))))
                .isInstanceOf(CommitUnknownException.class)
                .hasMessageStartingWith("Unknown whether ingest a was committed as /memory/_stoker/log/")
                .hasMessageContaining("run it again under the same ingest id")
                .hasMessageContaining("delete nothing");
        faulty.reset();
        assertThat(committer.commit(append("a", summary(1, "train", 1))).version())
                .isEqualTo(1);
    }

    @Test
    void aFailureToPublishIsNoVersion() throws IOException {
        Committer committer = faultyCommitter();
        faulty.once(creates(DatasetLayout.logEntry(1)), Fault.NO_SPACE);

        assertThatThrownBy(() -> committer.commit(append("a", summary(1, "train", 1))))
                .isInstanceOf(NoSpaceException.class);
        assertThat(dataset.latestVersion()).isZero();
    }

    @Test
    void aMissingCopyIsWrittenByTheNextCommit() throws IOException {
        Committer committer = faultyCommitter();
        faulty.on(creates(DatasetLayout.ingestCopy("a")), Fault.FAIL_BEFORE);
        committer.commit(append("a", summary(1, "train", 1)));
        assertThat(memory.list(DatasetLayout.INGESTS).toList()).isEmpty();

        committer(dataset).commit(append("b", summary(2, "train", 1)));

        assertThat(memory.readAll(DatasetLayout.ingestCopy("a"), 1 << 20))
                .isEqualTo(memory.readAll(DatasetLayout.logEntry(1), 1 << 20));
        assertThat(committer(dataset)
                        .commit(append("a", summary(3, "train", 1)))
                        .version())
                .isEqualTo(1);
    }

    @Test
    void anIngestWhoseCopyIsMissingCommitsOnce() throws IOException {
        Committer committer = faultyCommitter();
        faulty.on(creates(DatasetLayout.ingestCopy("a")), Fault.FAIL_BEFORE);
        committer.commit(append("a", summary(1, "train", 1)));

        Commit again = committer(dataset).commit(append("a", summary(1, "train", 1)));

        assertThat(again.repeated()).isTrue();
        assertThat(dataset.latestVersion()).isEqualTo(1);
    }

    @Test
    void noCommitWithoutTheCopyOfTheOneBefore() throws IOException {
        Committer committer = faultyCommitter();
        faulty.on(creates(DatasetLayout.ingestCopy("a")), Fault.FAIL_BEFORE);
        committer.commit(append("a", summary(1, "train", 1)));

        assertThatThrownBy(() -> committer.commit(append("b", summary(2, "train", 1))))
                .isInstanceOf(IOException.class);
        assertThat(dataset.latestVersion()).isEqualTo(1);
    }

    @Test
    void writesATableEveryHundredCommits() throws IOException {
        place(memory, 21, 201);
        Committer committer = committer(dataset);
        for (int v = 1; v <= 201; v++) {
            committer.commit(append("i" + v, summary(v, "train", 1)));
        }

        assertThat(memory.list(DatasetLayout.TABLES).toList())
                .extracting(info -> info.name())
                .containsExactlyInAnyOrder(DatasetLayout.table(100), DatasetLayout.table(200));
    }

    @Test
    void keepsFewTablesOfWhichEveryVersionHasOneThatIsNotMuchOlder() throws IOException {
        place(memory, 21, 300);
        Committer committer = new Committer(dataset, CLOCK, "ada", new TablePolicy(1, 1000));
        for (int v = 1; v <= 300; v++) {
            committer.commit(append("i" + v, summary(v, "train", 1)));
            NavigableSet<Long> tables = dataset.log().tables();
            assertThat(tables).hasSizeLessThan(14).contains((long) v, (long) Math.max(1, v - 1), (long)
                    Math.max(1, v - 2));
        }
        assertThat(dataset.snapshot(1).table().size()).isEqualTo(1);
        assertThat(dataset.snapshot(150).table().size()).isEqualTo(150);
    }

    @Test
    void aTableThatIsSupersededWhileAReaderIsOnItsWayIsDoneWithout() throws IOException {
        Committer committer = new Committer(dataset, CLOCK, "ada", new TablePolicy(2, 1000));
        for (int v = 1; v <= 9; v++) {
            committer.commit(append("i" + v, summary(v, "train", 1)));
        }
        Dataset reader = Dataset.open(faulty);
        faulty.on(
                call -> {
                    if (call.operation() == FaultyObjectStore.Operation.READ_ALL
                            && call.name().startsWith(DatasetLayout.TABLES)) {
                        memory.delete(call.name());
                    }
                    return false;
                },
                Fault.FAIL_BEFORE);

        assertThat(reader.snapshot().table().size()).isEqualTo(9);
    }

    @Test
    void writesATableAfterManyChunks() throws IOException {
        List<ChunkSummary> chunks = new ArrayList<>();
        for (int i = 0; i < 4096; i++) {
            chunks.add(summary(i, "train", 1));
        }
        place(memory, 21, 4095);
        place(memory, 5000, 5000);
        committer(dataset).commit(append("many", chunks.toArray(new ChunkSummary[0])));
        committer(dataset).commit(append("one", summary(5000, "train", 1)));

        assertThat(memory.list(DatasetLayout.TABLES).toList())
                .extracting(info -> info.name())
                .containsExactly(DatasetLayout.table(1));
    }

    @Test
    void aTableThatCannotBeWrittenIsNoFailure() throws IOException {
        faulty.reset();
        Committer committer = new Committer(Dataset.open(faulty), CLOCK, "ada", new TablePolicy(1, 1));
        faulty.on(call -> call.name().startsWith(DatasetLayout.TABLES), Fault.FAIL_BEFORE);

        // Opening lists the tables, so only what comes after the publishing may fail.
        faulty.reset();
        faulty.on(
                call -> call.name().startsWith(DatasetLayout.TABLES)
                        && call.operation() == FaultyObjectStore.Operation.CREATE,
                Fault.NO_SPACE);
        assertThat(committer.commit(append("a", summary(1, "train", 1))).version())
                .isEqualTo(1);
        faulty.reset();
        assertThat(committer.commit(append("b", summary(2, "train", 1))).version())
                .isEqualTo(2);
        assertThat(memory.list(DatasetLayout.TABLES).toList()).hasSize(1);
    }

    @Test
    void twoIngestsWithDifferentNewClassesThenAThird() throws IOException {
        Committer first = faultyCommitter();
        raceFor(
                1,
                CommitRequest.append(
                        "b", List.of(summary(2, "train", 1)), Map.of("label", List.of("dog", "ant")), Map.of()));
        first.commit(CommitRequest.append(
                "a", List.of(summary(1, "train", 1)), Map.of("label", List.of("cat", "dog")), Map.of()));
        committer(dataset)
                .commit(CommitRequest.append(
                        "c", List.of(summary(3, "train", 1)), Map.of("label", List.of("bee", "cat", "ant")), Map.of()));

        assertThat(dataset.snapshot(1).classes().names("label")).containsExactly("ant", "dog");
        assertThat(dataset.snapshot(2).classes().names("label")).containsExactly("ant", "dog", "cat");
        assertThat(dataset.snapshot(3).classes().names("label")).containsExactly("ant", "dog", "cat", "bee");
    }

    @Test
    void publishesOnlyChunksThatAreThere() throws IOException {
        memory.delete(ChunkNames.path(id(2)));
        memory.corrupt(ChunkNames.path(id(3)), new byte[7]);

        assertThatThrownBy(() -> committer(dataset)
                        .commit(append("a", summary(1, "train", 1), summary(2, "train", 1), summary(3, "val", 1))))
                .isInstanceOf(MissingChunksException.class)
                .hasMessageContaining("Ingest a cannot be committed")
                .hasMessageContaining(ChunkNames.path(id(2)) + " is missing (2 of 3 chunks)");
        assertThatThrownBy(() -> committer(dataset).commit(append("a", summary(3, "val", 1))))
                .hasMessageContaining("has 7 bytes instead of 1003");
        assertThat(dataset.latestVersion()).isZero();
    }

    @Test
    void looksForManyChunksAtOnce() throws IOException {
        List<ChunkSummary> chunks = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            chunks.add(summary(i, "train", 1));
        }
        place(memory, 21, 98);

        assertThatThrownBy(() -> committer(dataset).commit(append("a", chunks.toArray(new ChunkSummary[0]))))
                .hasMessageContaining(ChunkNames.path(id(99)) + " is missing (1 of 100 chunks)");

        place(memory, 99, 99);
        assertThat(committer(dataset)
                        .commit(append("a", chunks.toArray(new ChunkSummary[0])))
                        .version())
                .isEqualTo(1);
    }

    @Test
    void anIngestThatWasEndedNeverCommits() throws IOException {
        committer(dataset).commit(append("before", summary(1, "train", 1)));
        LogEntry ended = committer(dataset).abandon("a");

        assertThat(ended.version()).isEqualTo(2);
        assertThat(ended.operation()).isEqualTo(Operation.ABANDON);
        assertThat(dataset.snapshot().table().liveRows()).isEqualTo(1);
        for (int later = 0; later < 2; later++) {
            assertThatThrownBy(() -> committer(dataset).commit(append("a", summary(2, "train", 1))))
                    .isInstanceOf(AbandonedException.class)
                    .hasMessageContaining("Ingest a of /memory was ended by `stoker gc --break` (version 2");
            assertThatThrownBy(() -> committer(dataset).find("a")).isInstanceOf(AbandonedException.class);
            committer(dataset).commit(append("after-" + later, summary(3 + later, "train", 1)));
        }
        assertThat(committer(dataset).abandon("a")).isEqualTo(ended);
        assertThat(dataset.latestVersion()).isEqualTo(4);
    }

    @Test
    void anIngestThatHasCommittedCannotBeEnded() throws IOException {
        committer(dataset).commit(append("a", summary(1, "train", 1)));

        assertThat(committer(dataset).abandon("a").operation()).isEqualTo(Operation.INGEST);
        assertThat(dataset.latestVersion()).isEqualTo(1);
    }

    @Test
    void anEndThatWinsTheRaceStopsTheCommit() throws IOException {
        Committer committer = faultyCommitter();
        boolean[] raced = {false};
        faulty.on(
                call -> {
                    if (!raced[0] && creates(DatasetLayout.logEntry(1)).test(call)) {
                        raced[0] = true;
                        try {
                            committer(dataset).abandon("run");
                        } catch (IOException e) {
                            throw new AssertionError(e);
                        }
                    }
                    return false;
                },
                Fault.FAIL_BEFORE);

        assertThatThrownBy(() -> committer.commit(new CommitRequest(
                        "run-7",
                        Operation.INGEST,
                        List.of(summary(1, "train", 1)),
                        Removal.NOTHING,
                        Map.of(),
                        Map.of(),
                        List.of("run"))))
                .isInstanceOf(AbandonedException.class);
        assertThat(dataset.latestVersion()).isEqualTo(1);
    }

    @Test
    void whateverFailsAfterThePublishingIsNoFailureOfTheCommit() throws IOException {
        for (Throwable failure : List.of(new OutOfMemoryError("in a table"), new IllegalStateException("a bug"))) {
            String ingest = failure.getClass().getSimpleName();
            faulty.reset();
            Committer committer = new Committer(Dataset.open(faulty), CLOCK, "ada", new TablePolicy(1, 1));
            faulty.on(
                    call -> {
                        if (call.name().startsWith(DatasetLayout.TABLES)
                                && call.operation() == FaultyObjectStore.Operation.CREATE) {
                            if (failure instanceof Error error) {
                                throw error;
                            }
                            throw (RuntimeException) failure;
                        }
                        return false;
                    },
                    Fault.FAIL_BEFORE);

            assertThat(committer.commit(append(ingest, summary(1, "train", 1))).repeated())
                    .isFalse();
        }
        assertThat(dataset.latestVersion()).isEqualTo(2);
    }

    @Test
    void anEntryThatNoReaderWouldTakeIsNotWritten() throws IOException {
        Committer committer = new Committer(dataset, CLOCK, "ada", TablePolicy.STANDARD, 2000);

        assertThatThrownBy(() -> committer.commit(CommitRequest.append(
                        "a", List.of(summary(1, "train", 1)), Map.of(), Map.of("note", "x".repeat(2000)))))
                .isInstanceOf(EntryTooLargeException.class)
                .hasMessageContaining("the limit is 2000");
        assertThat(dataset.latestVersion()).isZero();
    }

    @Test
    void refusesIngestIdsThatAreNoNames() {
        for (String bad : List.of("", "a/b", "../a", ".a", "a b", "x".repeat(129))) {
            assertThatThrownBy(() -> append(bad)).as(bad).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
