package dev.stoker.metadata;

import static dev.stoker.metadata.SampleDatasets.append;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.place;
import static dev.stoker.metadata.SampleDatasets.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Call;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.FaultyObjectStore.Operation;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectInfo;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An open dataset reads each log entry once, and notices if an earlier one has changed. */
class KeptVersionTest {

    private Instant now = SampleDatasets.NOW;
    private final InMemoryObjectStore memory = new InMemoryObjectStore(() -> now);
    private final FaultyObjectStore faulty = new FaultyObjectStore(memory);
    private Dataset dataset;

    @BeforeEach
    void create() throws IOException {
        Dataset.create(memory, info());
        dataset = Dataset.open(faulty);
        place(memory, 0, 300);
    }

    /** Commits as another process. */
    private void commit(String ingest, int chunk) throws IOException {
        now = now.plusSeconds(1);
        committer(Dataset.open(memory)).commit(append(ingest, summary(chunk, "train", 1)));
    }

    private void commitAll(String prefix, int first, int last) throws IOException {
        for (int v = first; v <= last; v++) {
            commit(prefix + v, v);
        }
    }

    private List<Call> calls(Operation operation, String prefix) {
        return faulty.calls().stream()
                .filter(call -> call.operation() == operation && call.name().startsWith(prefix))
                .toList();
    }

    private void deleteAll(String prefix) throws IOException {
        for (ObjectInfo object : memory.list(prefix).toList()) {
            memory.delete(object.name());
        }
    }

    private void createAgain() throws IOException {
        deleteAll("");
        Dataset.create(memory, info());
        place(memory, 0, 300);
    }

    private void requireSameAsOpenedAgain() throws IOException {
        Snapshot here = dataset.latest();
        Snapshot there = Dataset.open(memory).latest();
        assertThat(here.version()).isEqualTo(there.version());
        assertThat(here.table().encode()).isEqualTo(there.table().encode());
    }

    @Test
    void aLaterCommitReadsOnlyTheNewestEntry() throws IOException {
        VersionCommitter committer = committer(dataset);
        for (int v = 1; v <= 49; v++) {
            committer.commit(append("i" + v, summary(v, "train", 1)));
        }
        faulty.reset();

        committer.commit(append("i50", summary(50, "train", 1)));

        assertThat(calls(Operation.READ_ALL, DatasetLayout.LOG))
                .extracting(Call::name)
                .containsExactly(DatasetLayout.logEntry(49));
        // Two listings, the newest entry, the own second copy, the chunk, the sign, the second copy of the newest
        // entry, and three new files.
        assertThat(faulty.calls()).hasSize(10);
    }

    @Test
    void aLargeEntryIsNotKept() throws IOException {
        commitAll("i", 1, 3);
        assertThat(dataset.latest().version()).isEqualTo(3);
        byte[] bytes = new byte[VersionLog.MAX_KEPT_BYTES];
        new Random(0).nextBytes(bytes);
        Map<String, String> large = Map.of("note", HexFormat.of().formatHex(bytes));
        committer(dataset).commit(VersionRequest.append("i4", List.of(summary(4, "train", 1)), Map.of(), large));
        faulty.reset();

        requireSameAsOpenedAgain();

        // The version before it is kept: its entry is compared, and the large one is read.
        assertThat(calls(Operation.READ_ALL, DatasetLayout.LOG))
                .extracting(Call::name)
                .containsExactly(DatasetLayout.logEntry(3), DatasetLayout.logEntry(4));
    }

    @Test
    void aCommitAfterOthersReadsTheirEntries() throws IOException {
        VersionCommitter committer = committer(dataset);
        committer.commit(append("i1", summary(1, "train", 1)));
        commitAll("other", 2, 40);
        committer.commit(append("i41", summary(41, "train", 1)));
        commitAll("more", 42, 43);
        faulty.reset();

        assertThat(committer.commit(append("i44", summary(44, "train", 1))).version())
                .isEqualTo(44);

        assertThat(calls(Operation.READ_ALL, DatasetLayout.LOG))
                .extracting(Call::name)
                .containsExactlyInAnyOrder(
                        DatasetLayout.logEntry(41), DatasetLayout.logEntry(42), DatasetLayout.logEntry(43));
        requireSameAsOpenedAgain();
    }

    @Test
    void aLostRaceReadsTheWinnersEntry() throws IOException {
        VersionCommitter committer = committer(dataset);
        commitAll("i", 1, 30);
        committer.commit(append("i31", summary(31, "train", 1)));
        faulty.reset();
        boolean[] raced = {false};
        faulty.on(
                call -> {
                    if (!raced[0] && call.operation() == Operation.CREATE) {
                        raced[0] = true;
                        try {
                            commit("other", 100);
                        } catch (IOException e) {
                            throw new AssertionError(e);
                        }
                    }
                    return false;
                },
                Fault.FAIL_BEFORE);

        assertThat(committer.commit(append("i33", summary(33, "train", 1))).version())
                .isEqualTo(33);

        assertThat(calls(Operation.READ_ALL, DatasetLayout.LOG))
                .extracting(Call::name)
                .containsExactly(DatasetLayout.logEntry(31), DatasetLayout.logEntry(32));
        assertThat(faulty.calls()).hasSize(15);
        requireSameAsOpenedAgain();
    }

    @Test
    void readersReadOnlyNewEntries() throws IOException {
        commitAll("i", 1, 20);
        assertThat(dataset.latest().version()).isEqualTo(20);
        commit("i21", 21);
        faulty.reset();

        requireSameAsOpenedAgain();

        assertThat(calls(Operation.READ_ALL, DatasetLayout.LOG))
                .extracting(Call::name)
                .containsExactly(DatasetLayout.logEntry(20), DatasetLayout.logEntry(21));
    }

    @Test
    void aTableThatIsNewerThanTheKeptVersionIsRead() throws IOException {
        commitAll("i", 1, 20);
        assertThat(dataset.latest().version()).isEqualTo(20);
        commitAll("i", 21, 103);
        faulty.reset();

        requireSameAsOpenedAgain();

        assertThat(calls(Operation.READ_ALL, DatasetLayout.LOG)).hasSize(3);
    }

    @Test
    void noticesThatTheDatasetWasCreatedAgain() throws IOException {
        for (int versions : List.of(2, 4, 6)) {
            createAgain();
            commitAll("before", 1, 4);
            assertThat(dataset.latest().version()).isEqualTo(4);
            createAgain();
            commitAll("after", 1, 2);
            committer(Dataset.open(memory)).abandon("other");
            commitAll("after", 4, versions);

            requireSameAsOpenedAgain();
            assertThat(committer(dataset)
                            .commit(append("next", summary(200, "val", 1)))
                            .version())
                    .isEqualTo(Math.max(3, versions) + 1);
            requireSameAsOpenedAgain();
        }
    }

    @Test
    void noticesThatTheLogWasRestoredFromAnOlderCopy() throws IOException {
        commitAll("i", 1, 2);
        InMemoryObjectStore backup = memory.copy();
        commitAll("i", 3, 5);
        assertThat(dataset.latest().version()).isEqualTo(5);
        deleteAll("_stoker/");
        for (ObjectInfo object : backup.list("_stoker/").toList()) {
            memory.createIfAbsent(object.name(), backup.readAll(object.name(), 1 << 20));
        }

        requireSameAsOpenedAgain();
        commitAll("j", 10, 14);

        requireSameAsOpenedAgain();
    }

    @Test
    void noticesThatTheNewestEntryHasOtherBytes() throws IOException {
        commitAll("i", 1, 4);
        assertThat(dataset.latest().version()).isEqualTo(4);
        byte[] content = memory.readAll(DatasetLayout.logEntry(4), 1 << 20);
        content[content.length / 2] ^= 1;
        // The clock stands still and the length is the same.
        memory.corrupt(DatasetLayout.logEntry(4), content);

        assertThatThrownBy(dataset::latest).isInstanceOf(CorruptDataException.class);
        assertThatThrownBy(() -> committer(dataset).commit(append("next", summary(9, "train", 1))))
                .isInstanceOf(CorruptDataException.class);
    }

    @Test
    void noticesThatAnOlderEntryWasRebuilt() throws IOException {
        commitAll("i", 1, 2);
        commit("i3", 3);
        committer(Dataset.open(memory)).commit(VersionRequest.remove("r", base -> List.of(), Map.of()));
        committer(dataset).commit(append("i5", summary(5, "train", 1)));
        assertThat(dataset.latest().table().size()).isEqualTo(4);
        // Another chunk of the same ingest.
        InMemoryObjectStore other = new InMemoryObjectStore(() -> now);
        Dataset.create(other, info());
        place(other, 0, 20);
        for (int v = 1; v <= 3; v++) {
            committer(Dataset.open(other)).commit(append("rebuilt" + v, summary(v + 10, "val", 1)));
        }
        now = now.plusSeconds(1);
        memory.corrupt(DatasetLayout.logEntry(3), other.readAll(DatasetLayout.logEntry(3), 1 << 20));

        requireSameAsOpenedAgain();
        assertThat(dataset.latest().splits()).contains("val");
    }

    @Test
    void noticesThatTheNewestEntryIsLost() throws IOException {
        commitAll("i", 1, 4);
        assertThat(dataset.latest().version()).isEqualTo(4);
        memory.delete(DatasetLayout.logEntry(4));

        requireSameAsOpenedAgain();
        assertThatThrownBy(() -> committer(dataset).commit(append("next", summary(9, "train", 1))))
                .hasMessageContaining("has lost its newest version 4");
    }

    @Test
    void noticesThatAnOlderEntryIsLost() throws IOException {
        commitAll("i", 1, 4);
        assertThat(dataset.latest().version()).isEqualTo(4);
        memory.delete(DatasetLayout.logEntry(2));

        assertThatThrownBy(dataset::latest).hasMessageContaining("lacks " + DatasetLayout.logEntry(2));
    }

    @Test
    void severalThreadsCommitThroughOneDataset() throws Exception {
        int threads = 6;
        int each = 30;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Callable<List<Long>>> work = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                int thread = t;
                work.add(() -> {
                    VersionCommitter committer =
                            new VersionCommitter(dataset, () -> now, "ada", new TablePolicy(7, 1000));
                    List<Long> versions = new ArrayList<>();
                    for (int n = 0; n < each; n++) {
                        int chunk = thread * each + n;
                        Commit commit = committer.commit(append("i" + chunk, summary(chunk, "train", 1)));
                        Snapshot newest = dataset.latest();
                        assertThat(newest.version()).isGreaterThanOrEqualTo(commit.version());
                        assertThat(newest.table().size()).isEqualTo((int) newest.version());
                        versions.add(commit.version());
                    }
                    return versions;
                });
            }
            List<Long> versions = new ArrayList<>();
            for (Future<List<Long>> done : pool.invokeAll(work)) {
                versions.addAll(done.get());
            }
            assertThat(versions).doesNotHaveDuplicates().hasSize(threads * each);
        } finally {
            pool.shutdownNow();
        }
        assertThat(dataset.latestVersion()).isEqualTo((long) threads * each);
        requireSameAsOpenedAgain();
    }
}
