package dev.stoker.metadata.gc;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.NOW;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.commit.AbandonedException;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.recovery.Recovery;
import dev.stoker.metadata.selection.Selections;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GarbageCollectionTest {

    private static final InstantSource LATER = InstantSource.fixed(NOW.plusSeconds(30 * 24 * 3600));

    private final InMemoryObjectStore store = new InMemoryObjectStore(CLOCK);
    private Dataset dataset;
    private Leases leases;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(store, info());
        leases = new Leases(dataset);
    }

    private void take(String ingest) throws IOException {
        leases.take(ingest, CLOCK, "ada@host", "");
    }

    private GarbageCollection plan() throws IOException {
        return GarbageCollection.plan(dataset, Duration.ZERO, LATER);
    }

    private List<String> chunks() throws IOException {
        return store.list(DatasetLayout.CHUNKS).toList().stream()
                .map(ObjectInfo::name)
                .sorted()
                .toList();
    }

    @Test
    void refusesToCollectWhileTheNewestEntryIsLost() throws IOException {
        for (int i = 1; i <= 2; i++) {
            ChunkSummary chunk = write(store, id(i), "ingest-" + i, "train", "cat/" + i);
            committer(dataset).commit(VersionRequest.append("ingest-" + i, List.of(chunk), Map.of(), Map.of()));
        }
        store.delete(DatasetLayout.logEntry(2));

        assertThatThrownBy(this::plan)
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("has lost its newest version 2")
                .hasMessageContaining("stoker recover");
        assertThatThrownBy(() -> GarbageCollection.end(dataset, "ingest-2", LATER, "eve"))
                .isInstanceOf(CorruptDataException.class);
        Recovery.plan(store, "eve").apply();
        assertThat(plan().apply()).isEmpty();
        assertThat(chunks()).hasSize(2);
    }

    /** A recovery deletes a damaged entry before it writes it again. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void keepsTheChunksOfAnEntryThatIsBeingReplaced(boolean isBack) throws IOException {
        for (int i = 1; i <= 2; i++) {
            ChunkSummary chunk = write(store, id(i), "ingest-" + i, "train", "cat/" + i);
            committer(dataset).commit(VersionRequest.append("ingest-" + i, List.of(chunk), Map.of(), Map.of()));
        }
        byte[] entry = store.readAll(DatasetLayout.logEntry(2), Integer.MAX_VALUE);
        FaultyObjectStore beside = new FaultyObjectStore(store);
        beside.on(
                call -> {
                    if (call.name().equals(DatasetLayout.CHUNKS)) {
                        store.delete(DatasetLayout.logEntry(2));
                    } else if (isBack && call.name().equals(DatasetLayout.versionSign(2))) {
                        store.createIfAbsent(DatasetLayout.logEntry(2), entry);
                    }
                    return false;
                },
                FaultyObjectStore.Fault.FAIL_BEFORE);
        if (isBack) {
            assertThat(GarbageCollection.plan(Dataset.open(beside), Duration.ZERO, LATER)
                            .leftovers())
                    .isEmpty();
        } else {
            assertThatThrownBy(() -> GarbageCollection.plan(Dataset.open(beside), Duration.ZERO, LATER))
                    .isInstanceOf(CorruptDataException.class)
                    .hasMessageContaining("has lost its newest version 2");
        }
        assertThat(chunks()).hasSize(2);
    }

    @Test
    void anOldSelectionIsDeleted() throws IOException {
        ChunkSummary chunk = write(store, id(1), "a", "train", "cat/1", "cat/2");
        committer(dataset)
                .commit(VersionRequest.append("a", List.of(chunk), Map.of("label", List.of("cat")), Map.of()));
        Selections.stream(store, dataset.snapshot(), "train", "key = 'cat/1'");

        assertThat(GarbageCollection.plan(dataset, Duration.ofDays(60), LATER).apply())
                .isEmpty();
        assertThat(plan().apply()).hasSize(1);
        assertThat(store.list(DatasetLayout.FILTERS).toList()).isEmpty();
        assertThat(chunks()).hasSize(1);
    }

    @Test
    void aWriterThatTakesAMonthLosesNothing() throws IOException {
        take("slow");
        ChunkSummary chunk = write(store, id(1), "slow", "train", "cat/1");
        write(store, id(2), "dead", "train", "cat/2");

        GarbageCollection collection = plan();
        assertThat(collection.leftovers())
                .extracting(Leftover::ingest, Leftover::fate)
                .containsExactlyInAnyOrder(
                        Tuple.tuple("slow", Leftover.Fate.LEASED), Tuple.tuple("dead", Leftover.Fate.DELETE));
        assertThat(collection.apply()).hasSize(1);

        assertThat(committer(dataset)
                        .commit(VersionRequest.append("slow", List.of(chunk), Map.of(), Map.of()))
                        .version())
                .isEqualTo(1);
    }

    @Test
    void aLeaseThatIsTakenAfterThePlanCounts() throws IOException {
        write(store, id(1), "again", "train", "cat/1");
        GarbageCollection collection = plan();
        take("again");

        assertThat(collection.apply()).isEmpty();
        assertThat(chunks()).hasSize(1);
    }

    @Test
    void filesOfNobodyStayWhileWritersAreAtWork() throws IOException {
        take("slow");
        store.corrupt(ChunkNames.path(id(1)), new byte[10]);
        ObjectWriter unfinished = store.write(ChunkNames.path(id(2)));
        unfinished.write(ByteBuffer.allocate(10));

        assertThat(plan().leftovers())
                .filteredOn(leftover -> leftover.ingest().isEmpty())
                .hasSize(2)
                .allMatch(leftover -> leftover.fate() == Leftover.Fate.BESIDE_WRITERS);
        assertThat(plan().apply()).isEmpty();

        leases.release("slow");
        assertThat(plan().apply()).hasSize(2);
        unfinished.close();
    }

    @Test
    void aLeaseThatIsLeftAfterTheCommitGoes() throws IOException {
        take("a");
        ChunkSummary chunk = write(store, id(1), "a", "train", "cat/1");
        write(store, id(2), "a", "train", "cat/2");
        committer(dataset).commit(VersionRequest.append("a", List.of(chunk), Map.of(), Map.of()));

        assertThat(plan().finished()).containsExactly("a");
        assertThat(plan().apply()).hasSize(1);

        assertThat(leases.all()).isEmpty();
        assertThat(chunks()).containsExactly(ChunkNames.path(id(1)));
    }

    @Test
    void whoIsEndedNeverCommitsAndLosesItsChunks() throws IOException {
        take("a");
        take("b");
        ChunkSummary mine = write(store, id(1), "a", "train", "cat/1");
        ChunkSummary other = write(store, id(2), "b", "train", "cat/2");

        LogEntry entry = GarbageCollection.end(dataset, "a", LATER, "eve");

        assertThat(entry.operation()).isEqualTo(Operation.ABANDON);
        assertThat(entry.committedBy()).isEqualTo("eve");
        assertThat(leases.all()).containsOnlyKeys("b");
        assertThat(chunks()).containsExactly(ChunkNames.path(id(2)));
        assertThatThrownBy(
                        () -> committer(dataset).commit(VersionRequest.append("a", List.of(mine), Map.of(), Map.of())))
                .isInstanceOf(AbandonedException.class);
        assertThatThrownBy(() -> take("a")).isInstanceOf(AbandonedException.class);
        assertThat(leases.all()).containsOnlyKeys("b");
        assertThat(committer(dataset)
                        .commit(VersionRequest.append("b", List.of(other), Map.of(), Map.of()))
                        .version())
                .isEqualTo(2);
    }

    @Test
    void whoHasCommittedIsNotEnded() throws IOException {
        take("a");
        ChunkSummary chunk = write(store, id(1), "a", "train", "cat/1");
        committer(dataset).commit(VersionRequest.append("a", List.of(chunk), Map.of(), Map.of()));

        assertThat(GarbageCollection.end(dataset, "a", LATER, "eve").operation())
                .isEqualTo(Operation.INGEST);

        assertThat(leases.all()).isEmpty();
        assertThat(chunks()).hasSize(1);
        assertThat(dataset.latestVersion()).isEqualTo(1);
    }

    private String skip(String ingest) throws IOException {
        String list = DatasetLayout.skipList(ingest, UUID.randomUUID());
        store.createIfAbsent(list, new byte[] {1});
        return list;
    }

    private List<String> skipLists() throws IOException {
        return store.list(DatasetLayout.SKIP_LISTS).toList().stream()
                .map(ObjectInfo::name)
                .toList();
    }

    @Test
    void listsOfSkippedSamplesStayWithTheirVersionOrWriter() throws IOException {
        store.createIfAbsent(DatasetLayout.SKIP_LISTS + "notes.txt", new byte[1]);
        skip("dead");
        String running = skip("running");
        take("running");
        skip("a");
        String committed = skip("a");
        ChunkSummary chunk = write(store, id(1), "a", "train", "cat/1");
        committer(dataset).commit(VersionRequest.append("a", List.of(chunk), Map.of(), Map.of("skip_list", committed)));

        GarbageCollection collection = plan();
        assertThat(collection.leftovers())
                .extracting(Leftover::ingest, Leftover::fate)
                .containsExactlyInAnyOrder(
                        Tuple.tuple("running", Leftover.Fate.LEASED),
                        Tuple.tuple("dead", Leftover.Fate.DELETE),
                        Tuple.tuple("a", Leftover.Fate.DELETE));
        assertThat(collection.apply()).hasSize(2);
        assertThat(skipLists()).containsExactlyInAnyOrder(committed, running, DatasetLayout.SKIP_LISTS + "notes.txt");

        GarbageCollection.end(dataset, "running", LATER, "eve");
        assertThat(skipLists()).containsExactlyInAnyOrder(committed, DatasetLayout.SKIP_LISTS + "notes.txt");
    }

    @Test
    void aListOfAVersionThatIsCommittedAfterThePlanStays() throws IOException {
        String list = skip("late");
        ChunkSummary chunk = write(store, id(1), "late", "train", "cat/1");
        GarbageCollection collection = plan();
        committer(dataset).commit(VersionRequest.append("late", List.of(chunk), Map.of(), Map.of("skip_list", list)));

        assertThat(collection.apply()).isEmpty();
        assertThat(skipLists()).containsExactly(list);
    }

    @Test
    void aLeaseThatCannotBeReadProtectsAllTheSame() throws IOException {
        take("a");
        write(store, id(1), "a", "train", "cat/1");
        store.corrupt(DatasetLayout.lease("a"), new byte[] {1, 2, 3});

        assertThat(plan().apply()).isEmpty();
        assertThat(chunks()).hasSize(1);
    }
}
