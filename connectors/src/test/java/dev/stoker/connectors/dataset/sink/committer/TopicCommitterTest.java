package dev.stoker.connectors.dataset.sink.committer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.dataset.CommitRefusedException;
import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.IngestTotals;
import dev.stoker.connectors.dataset.TakenKeyException;
import dev.stoker.connectors.dataset.TopicPosition;
import dev.stoker.connectors.dataset.TopicRun;
import dev.stoker.connectors.kafka.BrokersAwayException;
import dev.stoker.flink.failure.Patience;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.CountingObjectStore;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.StoreUnavailableException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TopicCommitterTest {

    @TempDir
    Path directory;

    private TopicRun.CommitGuard guard = () -> {};
    private DatasetStore stores = DatasetStore.BY_LOCATION;
    private int chunks;

    @BeforeEach
    void create() throws Exception {
        try (ObjectStore store = new LocalObjectStore(directory)) {
            Dataset.create(store, SampleDatasets.info());
        }
    }

    private TopicCommitter committer(TopicRun.Keys keys, long baseVersion, Long... committed) {
        return new TopicCommitter(
                new TopicRun(
                        stores,
                        directory.toString(),
                        SampleDatasets.info().id().toString(),
                        "run",
                        new TopicPosition("photos", "topic-id", "cluster", offsets(committed)),
                        new TreeMap<>(),
                        new TopicRun.Limits(guard, keys, baseVersion, 0)),
                Patience.endlessAfterRestore());
    }

    private static TreeMap<Integer, Long> offsets(Long... byPartition) {
        TreeMap<Integer, Long> offsets = new TreeMap<>();
        for (int partition = 0; partition < byPartition.length; partition++) {
            offsets.put(partition, byPartition[partition]);
        }
        return offsets;
    }

    private TopicCommittable part(String ingest, TreeMap<Integer, Long> before, long after, String... keys)
            throws Exception {
        try (ObjectStore store = new LocalObjectStore(directory)) {
            ChunkSummary chunk = SampleDatasets.write(store, SampleDatasets.id(++chunks), "run", "train", keys);
            return new TopicCommittable(
                    ingest, List.of(chunk), Map.of("label", new TreeSet<>(List.of("a"))), before, offsets(after), 0);
        }
    }

    private static void commit(TopicCommitter committer, TopicCommittable part) throws Exception {
        committer.commit(List.of(new Request(part)));
    }

    private long version() throws Exception {
        try (ObjectStore store = new LocalObjectStore(directory)) {
            return Dataset.open(store).latestVersion();
        }
    }

    @Test
    void commitsPartsThatFollowEachOtherEachOnce() throws Exception {
        TopicCommitter committer = committer(TopicRun.Keys.OFFSETS, 0);
        TopicCommittable first = part("run-1", offsets(), 5, "a/0");
        commit(committer, first);
        commit(committer, first);
        TopicCommittable second = part("run-2", offsets(5L), 9, "a/5");
        commit(committer, second);
        // Flink asks a restored committer to repeat commits that may have succeeded.
        commit(committer(TopicRun.Keys.OFFSETS, 0), second);
        assertThat(version()).isEqualTo(2);
        try (ObjectStore store = new LocalObjectStore(directory)) {
            Dataset dataset = Dataset.open(store);
            assertThat(TopicPosition.find(dataset, dataset.latest(), "photos"))
                    .hasValueSatisfying(position -> assertThat(position.next()).isEqualTo(offsets(9L)));
            assertThat(TopicPosition.find(dataset, dataset.latest(), "other")).isEmpty();
        }
    }

    private List<String> keys() throws Exception {
        List<String> keys = new ArrayList<>();
        try (ObjectStore store = new LocalObjectStore(directory)) {
            ChunkTable table = Dataset.open(store).latest().table();
            for (int chunk = 0; chunk < table.size(); chunk++) {
                if (table.isLive(chunk)) {
                    ChunkHead head = ChunkHeads.readStored(store, table, chunk);
                    for (int row = 0; row < head.rows(); row++) {
                        if (!ChunkHeads.isRemoved(table, chunk, row)) {
                            keys.add(head.key(row));
                        }
                    }
                }
            }
        }
        return keys;
    }

    private static TopicCommittable removing(TopicCommittable part, String... keys) {
        return new TopicCommittable(
                part.ingest(),
                part.chunks(),
                List.of(keys),
                part.classes(),
                part.before(),
                part.after(),
                part.deadLetters());
    }

    @Test
    void laterRecordsReplaceAndDeleteSamplesOfAChangedTopic() throws Exception {
        TopicCommitter committer = committer(TopicRun.Keys.CHANGES, 0);
        commit(committer, part("run-1", offsets(), 5, "a", "b", "c"));
        TopicCommittable second = removing(part("run-2", offsets(5L), 9, "a", "d"), "a", "b", "unknown");
        commit(committer, second);
        commit(committer, second);
        assertThat(keys()).containsExactlyInAnyOrder("a", "c", "d");
        // Only a record without a value.
        commit(
                committer,
                new TopicCommittable("run-3", List.of(), List.of("c"), Map.of(), offsets(9L), offsets(11L), 0));
        assertThat(keys()).containsExactlyInAnyOrder("a", "d");
        assertThat(entry(3).operation()).isEqualTo(Operation.REMOVE);
        try (ObjectStore store = new LocalObjectStore(directory)) {
            Dataset dataset = Dataset.open(store);
            assertThat(TopicPosition.find(dataset, dataset.latest(), "photos"))
                    .hasValueSatisfying(position -> assertThat(position.next()).isEqualTo(offsets(11L)));
        }
        // A part of a restored job, after another writer has added one of its keys.
        commit(committer(TopicRun.Keys.CHANGES, 2, 11L), part("run-4", offsets(11L), 12, "d", "e"));
        assertThat(keys()).containsExactlyInAnyOrder("a", "d", "e");
    }

    @Test
    void eachEntryCarriesTheTotalsOfItsStart() throws Exception {
        TopicCommitter committer = committer(TopicRun.Keys.OFFSETS, 0);
        TopicCommittable first = part("run-1", offsets(), 5, "a/0", "a/1");
        commit(committer, first);
        commit(committer, first);
        TopicCommittable second = part("run-2", offsets(5L), 9, "a/5");
        commit(committer, second);
        commit(committer(TopicRun.Keys.OFFSETS, 0), second);
        long bytes = first.chunks().get(0).length() + second.chunks().get(0).length();
        assertThat(IngestTotals.of(entry(2), "run")).isEqualTo(new IngestTotals(2, 3, bytes, 0));
        assertThat(IngestTotals.of(entry(2), "ru")).isEqualTo(IngestTotals.NONE);

        commit(committer(TopicRun.Keys.OFFSETS, 2, 9L), part("later-1", offsets(9L), 12, "a/9"));
        assertThat(IngestTotals.of(entry(3), "later").versions()).isEqualTo(1);
        assertThat(IngestTotals.of(entry(3), "run")).isEqualTo(IngestTotals.NONE);
    }

    @Test
    void findsThePositionOfATopicWithOneEntryHoweverManyThereAre() throws Exception {
        TopicCommitter committer = committer(TopicRun.Keys.OFFSETS, 0);
        commit(committer, part("run-1", offsets(), 5, "a/0"));
        try (ObjectStore store = new LocalObjectStore(directory)) {
            for (int i = 0; i < 120; i++) {
                SampleDatasets.place(store, 1000 + i, 1000 + i);
                SampleDatasets.committer(Dataset.open(store))
                        .commit(VersionRequest.append(
                                "files-" + i,
                                List.of(SampleDatasets.summary(1000 + i, "train", 3)),
                                Map.of(),
                                Map.of()));
            }
            CountingObjectStore counted = new CountingObjectStore(store);
            Dataset dataset = Dataset.open(counted);
            Snapshot newest = dataset.latest();
            assertThat(newest.version()).isEqualTo(121);
            counted.reset();

            assertThat(TopicPosition.find(dataset, newest, "photos"))
                    .hasValueSatisfying(position -> assertThat(position.next()).isEqualTo(offsets(5L)));
            assertThat(counted.reads()).isEqualTo(1);
            assertThat(TopicPosition.find(dataset, newest, "new topic")).isEmpty();
            assertThat(counted.reads()).isEqualTo(1);
            assertThat(counted.listed()).isZero();
        }
        commit(committer, part("run-2", offsets(5L), 9, "a/5"));
        assertThat(IngestTotals.of(entry(122), "run").versions()).isEqualTo(2);
    }

    private LogEntry entry(long version) throws IOException {
        try (ObjectStore store = new LocalObjectStore(directory)) {
            return Dataset.open(store).entry(version);
        }
    }

    @Test
    void refusesAPartThatTheDatasetHasGonePast() throws Exception {
        commit(committer(TopicRun.Keys.OFFSETS, 0), part("other-1", offsets(), 7, "a/0"));
        assertThatThrownBy(() -> commit(committer(TopicRun.Keys.OFFSETS, 0), part("run-1", offsets(), 5, "a/1")))
                .isInstanceOf(SuppressRestartsException.class)
                .rootCause()
                .isInstanceOf(CommitRefusedException.class)
                .hasMessageContaining("is at the offsets 0=7")
                .hasMessageContaining("continues from nothing");
        assertThat(version()).isEqualTo(1);
    }

    @Test
    void aRepeatedCommitDoesNotTakeThePositionBack() throws Exception {
        TopicCommittable pending = part("old-1", offsets(), 5, "a/0");
        TopicCommitter old = committer(TopicRun.Keys.OFFSETS, 0);
        commit(old, pending);
        commit(old, part("old-2", offsets(5L), 9, "a/5"));
        // A second job from the savepoint with the pending part: at its start, the dataset holds both versions.
        TopicCommitter again = committer(TopicRun.Keys.OFFSETS, 2, 9L);
        commit(again, pending);
        assertThatThrownBy(() -> commit(again, part("new-1", offsets(5L), 8, "a/6")))
                .isInstanceOf(SuppressRestartsException.class)
                .rootCause()
                .isInstanceOf(CommitRefusedException.class)
                .hasMessageContaining("is at the offsets 0=9")
                .hasMessageContaining("started from an old savepoint");
        assertThat(version()).isEqualTo(2);
    }

    @Test
    void aPendingPartThatIsNewerThanTheStartIsFollowed() throws Exception {
        TopicCommittable pending = part("run-1", offsets(), 5, "a/0");
        commit(committer(TopicRun.Keys.OFFSETS, 0), pending);
        TopicCommitter restored = committer(TopicRun.Keys.OFFSETS, 0);
        commit(restored, pending);
        commit(restored, part("run-2", offsets(5L), 9, "a/5"));
        assertThat(version()).isEqualTo(2);
    }

    @Test
    void refusesAPartThatWouldTakeThePositionBack() throws Exception {
        commit(committer(TopicRun.Keys.OFFSETS, 0), part("run-1", offsets(), 7, "a/0"));
        assertThatThrownBy(() -> commit(committer(TopicRun.Keys.OFFSETS, 0), part("run-2", offsets(7L), 5, "a/1")))
                .rootCause()
                .isInstanceOf(CommitRefusedException.class)
                .hasMessageContaining("0=7")
                .hasMessageContaining("0=5");
        assertThat(version()).isEqualTo(1);
    }

    @Test
    void refusesAnotherContentUnderTheSameId() throws Exception {
        commit(committer(TopicRun.Keys.OFFSETS, 0), part("run-1", offsets(), 7, "a/0"));
        assertThatThrownBy(() -> commit(committer(TopicRun.Keys.OFFSETS, 0), part("run-1", offsets(), 5, "a/1")))
                .rootCause()
                .isInstanceOf(CommitRefusedException.class)
                .hasMessageContaining("run-1");
    }

    @Test
    void looksPastWhatOthersCommit() throws Exception {
        TopicCommitter committer = committer(TopicRun.Keys.OFFSETS, 0);
        commit(committer, part("run-1", offsets(), 5, "a/0"));
        try (ObjectStore store = new LocalObjectStore(directory)) {
            SampleDatasets.place(store, 99, 99);
            SampleDatasets.committer(Dataset.open(store))
                    .commit(VersionRequest.append(
                            "files", List.of(SampleDatasets.summary(99, "train", 3)), Map.of(), Map.of()));
        }
        commit(committer, part("run-2", offsets(5L), 9, "a/5"));
        assertThat(version()).isEqualTo(3);
    }

    @Test
    void refusesKeysThatOthersHaveCommittedMeanwhile() throws Exception {
        TopicCommitter committer = committer(TopicRun.Keys.RECORDS, 0);
        commit(committer, part("run-1", offsets(), 5, "a/0"));
        try (ObjectStore store = new LocalObjectStore(directory)) {
            ChunkSummary theirs = SampleDatasets.write(store, SampleDatasets.id(99), "files", "train", "a/5");
            SampleDatasets.committer(Dataset.open(store))
                    .commit(VersionRequest.append("files", List.of(theirs), Map.of(), Map.of()));
        }
        assertThatThrownBy(() -> commit(committer, part("run-2", offsets(5L), 9, "a/5")))
                .rootCause()
                .isInstanceOf(TakenKeyException.class)
                .hasMessageContaining("a/5");
    }

    @Test
    void commitsNothingThatItsGuardRefuses() throws Exception {
        guard = () -> {
            throw new IOException("another topic");
        };
        TopicCommittable part = part("run-1", offsets(), 5, "a/0");
        assertThatThrownBy(() -> commit(committer(TopicRun.Keys.OFFSETS, 0), part))
                .isInstanceOf(IOException.class)
                .hasMessage("another topic");
        assertThat(version()).isZero();
    }

    @Test
    void waitsForAStoreThatIsAway() throws Exception {
        AtomicInteger away = new AtomicInteger(2);
        stores = location -> {
            if (away.getAndDecrement() > 0) {
                throw new StoreUnavailableException("503", null);
            }
            return DatasetStore.BY_LOCATION.open(location);
        };
        commit(committer(TopicRun.Keys.OFFSETS, 0), part("run-1", offsets(), 5, "a/0"));
        assertThat(version()).isEqualTo(1);
    }

    @Test
    void waitsForBrokersThatAreAway() throws Exception {
        AtomicInteger away = new AtomicInteger(1);
        guard = () -> {
            if (away.getAndDecrement() > 0) {
                throw new BrokersAwayException("no broker answers", null);
            }
        };
        commit(committer(TopicRun.Keys.OFFSETS, 0), part("run-1", offsets(), 5, "a/0"));
        assertThat(version()).isEqualTo(1);
    }

    /** Flink asks for a commit. */
    private record Request(TopicCommittable getCommittable) implements Committer.CommitRequest<TopicCommittable> {

        @Override
        public int getNumberOfRetries() {
            return 0;
        }

        @Override
        public void signalFailedWithKnownReason(Throwable t) {
            throw new AssertionError(t);
        }

        @Override
        public void signalFailedWithUnknownReason(Throwable t) {
            throw new AssertionError(t);
        }

        @Override
        public void retryLater() {
            throw new AssertionError("retried");
        }

        @Override
        public void updateAndRetryLater(TopicCommittable committable) {
            throw new AssertionError("retried");
        }

        @Override
        public void signalAlreadyCommitted() {
            throw new AssertionError("already committed");
        }
    }
}
