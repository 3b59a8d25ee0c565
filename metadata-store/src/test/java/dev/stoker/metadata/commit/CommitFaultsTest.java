package dev.stoker.metadata.commit;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.append;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.place;
import static dev.stoker.metadata.SampleDatasets.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.TablePolicy;
import dev.stoker.schemas.log.AddedChunk;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Call;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.errors.NoSpaceException;
import dev.stoker.storage.errors.StoreUnavailableException;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Commits that race with others, fail, or have an unknown outcome. */
class CommitFaultsTest {
    private final InMemoryObjectStore memory = new InMemoryObjectStore(CLOCK);
    private final FaultyObjectStore faulty = new FaultyObjectStore(memory);
    private Dataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(memory, info());
        place(memory, 0, 20);
    }

    private VersionCommitter faultyCommitter() throws IOException {
        faulty.reset();
        return committer(Dataset.open(faulty));
    }

    private static Predicate<Call> creates(String name) {
        return call -> call.operation() == FaultyObjectStore.Operation.CREATE
                && call.name().equals(name);
    }

    /** Lets another ingest win the race for a version, when the committer is about to publish. */
    private void raceFor(long version, VersionRequest other) {
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
        VersionCommitter committer = faultyCommitter();
        raceFor(1, append("other", summary(1, "train", 1), summary(2, "train", 1)));

        Commit commit =
                committer.commit(VersionRequest.replace("mine", List.of(summary(3, "val", 7)), Map.of(), Map.of()));

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
        VersionCommitter committer = faultyCommitter();
        raceFor(1, append("mine", summary(1, "train", 1)));

        Commit commit = committer.commit(append("mine", summary(1, "train", 1)));

        assertThat(commit.version()).isEqualTo(1);
        assertThat(commit.repeated()).isTrue();
        assertThat(dataset.latestVersion()).isEqualTo(1);
    }

    @Test
    void anUnknownOutcomeWithEffectIsFoundByReadingBack() throws IOException {
        VersionCommitter committer = faultyCommitter();
        faulty.once(creates(DatasetLayout.logEntry(1)), Fault.UNKNOWN_AFTER_EFFECT);

        assertThat(committer.commit(append("a", summary(1, "train", 1))).version())
                .isEqualTo(1);
        assertThat(dataset.latestVersion()).isEqualTo(1);
        assertThat(committer(dataset).find("a")).isPresent();
    }

    @Test
    void anUnknownOutcomeWithoutEffectIsTriedAgain() throws IOException {
        VersionCommitter committer = faultyCommitter();
        faulty.once(creates(DatasetLayout.logEntry(1)), Fault.UNKNOWN_WITHOUT_EFFECT);

        assertThat(committer.commit(append("a", summary(1, "train", 1))).version())
                .isEqualTo(1);
    }

    @Test
    void aFailureWithEffectIsUnknownWhereTheEntryCannotBeRead() throws IOException {
        VersionCommitter committer = faultyCommitter();
        String entry = DatasetLayout.logEntry(1);
        faulty.once(creates(entry), Fault.FAIL_AFTER);
        faulty.once(
                call -> call.operation() == FaultyObjectStore.Operation.READ_ALL
                        && call.name().equals(entry),
                Fault.AWAY);

        assertThatThrownBy(() -> committer.commit(append("a", summary(1, "train", 1))))
                .isInstanceOf(CommitUnknownException.class)
                .hasMessageStartingWith("Unknown whether ingest a was committed as /memory/" + entry);
        assertThat(committer.commit(append("a", summary(1, "train", 1))).version())
                .isEqualTo(1);
        assertThat(dataset.latestVersion()).isEqualTo(1);
    }

    @Test
    void aFailureWithoutEffectIsNoUnknownOutcome() throws IOException {
        VersionCommitter committer = faultyCommitter();
        faulty.once(creates(DatasetLayout.logEntry(1)), Fault.AWAY);

        assertThatThrownBy(() -> committer.commit(append("a", summary(1, "train", 1))))
                .isInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void anUnknownOutcomeThatAnotherIngestWonIsALostRace() throws IOException {
        VersionCommitter committer = faultyCommitter();
        raceFor(1, append("other", summary(2, "train", 1)));
        faulty.once(creates(DatasetLayout.logEntry(1)), Fault.UNKNOWN_WITHOUT_EFFECT);

        assertThat(committer.commit(append("a", summary(1, "train", 1))).version())
                .isEqualTo(2);
    }

    @Test
    void anOutcomeThatStaysUnknownSaysWhatToDo() throws IOException {
        VersionCommitter committer = faultyCommitter();
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
        VersionCommitter committer = faultyCommitter();
        faulty.once(creates(DatasetLayout.logEntry(1)), Fault.NO_SPACE);

        assertThatThrownBy(() -> committer.commit(append("a", summary(1, "train", 1))))
                .isInstanceOf(NoSpaceException.class);
        assertThat(dataset.latestVersion()).isZero();
    }

    @Test
    void aMissingCopyIsWrittenByTheNextCommit() throws IOException {
        VersionCommitter committer = faultyCommitter();
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
        VersionCommitter committer = faultyCommitter();
        faulty.on(creates(DatasetLayout.ingestCopy("a")), Fault.FAIL_BEFORE);
        committer.commit(append("a", summary(1, "train", 1)));

        Commit again = committer(dataset).commit(append("a", summary(1, "train", 1)));

        assertThat(again.repeated()).isTrue();
        assertThat(dataset.latestVersion()).isEqualTo(1);
    }

    @Test
    void noCommitWithoutTheCopyOfTheOneBefore() throws IOException {
        VersionCommitter committer = faultyCommitter();
        faulty.on(creates(DatasetLayout.ingestCopy("a")), Fault.FAIL_BEFORE);
        committer.commit(append("a", summary(1, "train", 1)));

        assertThatThrownBy(() -> committer.commit(append("b", summary(2, "train", 1))))
                .isInstanceOf(IOException.class);
        assertThat(dataset.latestVersion()).isEqualTo(1);
    }

    @Test
    void twoIngestsWithDifferentNewClassesThenAThird() throws IOException {
        VersionCommitter first = faultyCommitter();
        raceFor(
                1,
                VersionRequest.append(
                        "b", List.of(summary(2, "train", 1)), Map.of("label", List.of("dog", "ant")), Map.of()));
        first.commit(VersionRequest.append(
                "a", List.of(summary(1, "train", 1)), Map.of("label", List.of("cat", "dog")), Map.of()));
        committer(dataset)
                .commit(VersionRequest.append(
                        "c", List.of(summary(3, "train", 1)), Map.of("label", List.of("bee", "cat", "ant")), Map.of()));

        assertThat(dataset.snapshot(1).classes().names("label")).containsExactly("ant", "dog");
        assertThat(dataset.snapshot(2).classes().names("label")).containsExactly("ant", "dog", "cat");
        assertThat(dataset.snapshot(3).classes().names("label")).containsExactly("ant", "dog", "cat", "bee");
    }

    @Test
    void anEndThatWinsTheRaceStopsTheCommit() throws IOException {
        VersionCommitter committer = faultyCommitter();
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

        assertThatThrownBy(() -> committer.commit(new VersionRequest(
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
            VersionCommitter committer =
                    new VersionCommitter(Dataset.open(faulty), CLOCK, "ada", new TablePolicy(1, 1));
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
}
