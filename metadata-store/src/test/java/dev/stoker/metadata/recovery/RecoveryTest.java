package dev.stoker.metadata.recovery;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.NotADatasetException;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.TablePolicy;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectInfo;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RecoveryTest {

    private final InMemoryObjectStore store = new InMemoryObjectStore(CLOCK);
    private Dataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(store, info());
        VersionCommitter committer = new VersionCommitter(dataset, CLOCK, "ada", new TablePolicy(2, 100));
        committer.commit(VersionRequest.append(
                "a",
                List.of(write(store, id(1), "a", "train", "cat/1", "dog/1"), write(store, id(2), "a", "val", "dog/2")),
                Map.of("label", List.of("cat", "dog")),
                Map.of()));
        committer.commit(VersionRequest.append(
                "b",
                List.of(write(store, id(3), "b", "train", "ant/3", "cat/4")),
                Map.of("label", List.of("ant", "cat")),
                Map.of("x", "y")));
        committer.commit(VersionRequest.remove("c", base -> List.of(RemovedRows.of(0, 1)), Map.of()));
        committer.commit(VersionRequest.append(
                "d", List.of(write(store, id(4), "d", "train", "eel/1")), Map.of("label", List.of("eel")), Map.of()));
    }

    private List<byte[]> files() throws IOException {
        List<byte[]> files = new ArrayList<>();
        for (long version = 1; version <= 4; version++) {
            files.add(store.readAll(DatasetLayout.logEntry(version), 1 << 20));
        }
        for (String ingest : List.of("a", "b", "c", "d")) {
            files.add(store.readAll(DatasetLayout.ingestCopy(ingest), 1 << 20));
        }
        return files;
    }

    private void deleteAll(String prefix) throws IOException {
        for (ObjectInfo object : store.list(prefix).toList()) {
            store.delete(object.name());
        }
    }

    private RecoveryPlan plan() throws IOException {
        return Recovery.plan(store, "eve");
    }

    @Test
    void aSoundDatasetNeedsNothing() throws IOException {
        assertThat(plan().isEmpty()).isTrue();
        assertThat(plan().steps()).isEmpty();
        assertThat(plan().notes()).isEmpty();
    }

    @Test
    void aLostDescriptionComesBackExactlyFromItsCopy() throws IOException {
        store.delete(DatasetLayout.DATASET_JSON);

        assertThat(plan().steps())
                .containsExactly("write /memory/_stoker/dataset.json: the dataset's description, from its second copy");
        plan().apply();

        assertThat(store.readAll(DatasetLayout.DATASET_JSON, 1 << 20)).isEqualTo(info().encode());
        assertThat(plan().isEmpty()).isTrue();
    }

    @Test
    void aLostDescriptionComesBackFromTheHeadsButForNameAndOptions() throws IOException {
        store.delete(DatasetLayout.DATASET_JSON);
        store.corrupt(DatasetLayout.DATASET_COPY, new byte[] {1, 2});

        assertThat(plan().notes()).anyMatch(note -> note.contains("it is called memory now, after its directory"));
        plan().apply();

        Dataset recovered = Dataset.open(store);
        assertThat(recovered.info().id()).isEqualTo(info().id());
        assertThat(recovered.info().fields()).isEqualTo(info().fields());
        assertThat(recovered.snapshot().table().liveRows())
                .isEqualTo(dataset.snapshot().table().liveRows());
        assertThat(plan().isEmpty()).isTrue();
    }

    @Test
    void aDescriptionOfAnotherDatasetThanTheLogIsReplaced() throws IOException {
        DatasetInfo info = info();
        DatasetInfo foreign =
                new DatasetInfo(UUID.randomUUID(), "other", info.created(), info.fields(), info.options());
        store.corrupt(DatasetLayout.DATASET_JSON, foreign.encode());
        assertThatThrownBy(() -> Dataset.open(store).snapshot())
                .hasMessageContaining("belongs to dataset " + info.id());

        RecoveryPlan plan = plan();
        assertThat(plan.steps())
                .containsExactly(
                        "replace /memory/_stoker/dataset.json: the dataset's description, from its second copy");
        assertThat(plan.notes())
                .containsExactly("/memory/_stoker/dataset.json describes dataset " + foreign.id()
                        + ", but the log belongs to dataset " + info.id());
        plan.apply();

        assertThat(Dataset.open(store).snapshot().version()).isEqualTo(4);
    }

    @Test
    void whereNothingOfADatasetLiesThereIsNothingToRecover() {
        assertThatThrownBy(() -> Recovery.plan(new InMemoryObjectStore(CLOCK), "eve"))
                .isInstanceOf(NotADatasetException.class);
    }

    @Test
    void aLostLogIsRebuiltExactly() throws IOException {
        List<byte[]> before = files();
        deleteAll(DatasetLayout.LOG);
        assertThatThrownBy(dataset::snapshot).hasMessageContaining("stoker recover");

        RecoveryPlan plan = plan();
        assertThat(plan.steps()).hasSize(4).allMatch(step -> step.startsWith("write /memory/_stoker/log/"));
        assertThat(dataset.store().list(DatasetLayout.LOG).toList()).isEmpty();
        plan.apply();

        assertThat(files()).usingRecursiveComparison().isEqualTo(before);
        assertThat(dataset.latestVersion()).isEqualTo(4);
        assertThat(plan().isEmpty()).isTrue();
    }

    @Test
    void damagedEntriesAndCopiesAreReplacedByTheirTwins() throws IOException {
        List<byte[]> before = files();
        store.corrupt(DatasetLayout.logEntry(2), new byte[] {1, 2, 3});
        store.corrupt(DatasetLayout.ingestCopy("c"), new byte[] {1, 2, 3});
        store.delete(DatasetLayout.ingestCopy("a"));

        RecoveryPlan plan = plan();
        assertThat(plan.steps())
                .containsExactlyInAnyOrder(
                        "replace /memory/" + DatasetLayout.logEntry(2) + ": version 2 from its second copy",
                        "replace /memory/" + DatasetLayout.ingestCopy("c") + ": second copy of version 3",
                        "write /memory/" + DatasetLayout.ingestCopy("a") + ": second copy of version 1");
        assertThat(plan.notes()).hasSize(2);
        plan.apply();

        assertThat(files()).usingRecursiveComparison().isEqualTo(before);
    }

    @Test
    void samplesOfACompactionComeBackOnce() throws IOException {
        committer(dataset)
                .commit(VersionRequest.compact(
                        "compact-1",
                        List.of(write(store, id(5), "compact-1", "train", "ant/3", "cat/4", "eel/1")),
                        base -> List.of(RemovedRows.wholeChunk(2), RemovedRows.wholeChunk(3)),
                        Map.of("label", List.of("ant", "cat", "eel")),
                        Map.of()));
        store.delete(DatasetLayout.logEntry(5));
        store.delete(DatasetLayout.ingestCopy("compact-1"));
        assertThat(dataset.latestVersion()).isEqualTo(4);
        deleteAll(DatasetLayout.LOG);
        deleteAll(DatasetLayout.INGESTS);

        RecoveryPlan plan = plan();
        assertThat(plan.notes()).anyMatch(note -> note.contains("was made by a compaction"));
        plan.apply();

        assertThat(dataset.snapshot().table().liveRows()).isEqualTo(6);
        // The number of a lost version is not used again.
        assertThat(dataset.latestVersion()).isEqualTo(5);
    }

    @Test
    void aLostNewestVersionComesBackFromItsCopy() throws IOException {
        List<byte[]> before = files();
        store.delete(DatasetLayout.logEntry(4));

        assertThat(plan().steps())
                .containsExactly("write /memory/" + DatasetLayout.logEntry(4) + ": version 4 from its second copy");
        plan().apply();

        assertThat(files()).usingRecursiveComparison().isEqualTo(before);
        assertThat(plan().isEmpty()).isTrue();
    }

    @Test
    void aLostNewestVersionComesBackFromTheHeadsOfItsChunks() throws IOException {
        deleteAll(DatasetLayout.TABLES);
        Snapshot before = dataset.snapshot();
        store.delete(DatasetLayout.logEntry(4));
        store.delete(DatasetLayout.ingestCopy("d"));
        assertThatThrownBy(() -> committer(dataset).abandon("x")).hasMessageContaining("has lost its newest version 4");

        RecoveryPlan plan = plan();
        assertThat(plan.notes()).anyMatch(note -> note.startsWith("Versions [4] are rebuilt"));
        plan.apply();

        assertThat(dataset.entry(4).ingest()).isEqualTo("d");
        assertThat(dataset.entry(4).operation()).isEqualTo(Operation.RECOVERED);
        assertThat(chunks(dataset.snapshot().table())).isEqualTo(chunks(before.table()));
        assertThat(plan().isEmpty()).isTrue();
    }

    @Test
    void aLostNewestRemovalBecomesAVersionThatChangesNothing() throws IOException {
        committer(dataset).commit(VersionRequest.remove("e", base -> List.of(RemovedRows.of(0, 0)), Map.of()));
        store.delete(DatasetLayout.logEntry(5));
        store.delete(DatasetLayout.ingestCopy("e"));

        plan().apply();

        assertThat(dataset.latestVersion()).isEqualTo(5);
        assertThat(dataset.entry(5).operation()).isEqualTo(Operation.RECOVERED);
        assertThat(plan().isEmpty()).isTrue();
        committer(dataset).abandon("x");
    }

    @Test
    void aLostNewestVersionIsNotRebuiltByGuessing() throws IOException {
        write(store, id(9), "never-committed", "train", "cow/1");
        deleteAll(DatasetLayout.TABLES);
        store.delete(DatasetLayout.logEntry(4));
        store.delete(DatasetLayout.ingestCopy("d"));

        assertThatThrownBy(this::plan)
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("Versions [4] of /memory")
                .hasMessageContaining("never-committed")
                .hasMessageContaining("delete the signs /memory/" + DatasetLayout.versionSign(4));
        store.delete(DatasetLayout.versionSign(4));
        plan().apply();
        assertThat(dataset.latestVersion()).isEqualTo(3);
        committer(dataset).abandon("x");
    }

    @Test
    void aRecoverySignsTheNewestVersion() throws IOException {
        store.delete(DatasetLayout.versionSign(4));
        deleteAll(DatasetLayout.TABLES);

        assertThat(plan().steps())
                .containsExactly("write /memory/" + DatasetLayout.versionSign(4) + ": sign of version 4");
        plan().apply();

        store.delete(DatasetLayout.logEntry(4));
        assertThatThrownBy(() -> committer(dataset).abandon("x")).hasMessageContaining("has lost its newest version 4");
    }

    @Test
    void withoutLogAndCopiesTheHeadsTellTheChunks() throws IOException {
        write(store, id(9), "never-committed", "train", "cow/1");
        store.corrupt(ChunkNames.path(id(2)), new byte[] {1});
        deleteAll(DatasetLayout.LOG);
        deleteAll(DatasetLayout.INGESTS);

        RecoveryPlan plan = plan();
        plan.apply();

        assertThat(dataset.latestVersion()).isEqualTo(4);
        LogEntry first = dataset.entry(1);
        assertThat(first.operation()).isEqualTo(Operation.RECOVERED);
        assertThat(first.ingest()).isEqualTo("a");
        assertThat(first.committedBy()).isEqualTo("eve");
        assertThat(first.classes()).containsEntry("label", List.of("cat", "dog"));
        Snapshot snapshot = dataset.snapshot();
        assertThat(snapshot.table().liveRows()).isEqualTo(2 + 2 + 1 + 1);
        assertThat(snapshot.table().lastOrdinal()).isEqualTo(3);
        assertThat(snapshot.classes().names("label")).containsExactly("cat", "dog", "ant", "eel", "cow");
        assertThat(store.list(DatasetLayout.TABLES).toList()).isEmpty();
        assertThat(plan.notes())
                .anyMatch(note ->
                        note.contains("removed or replaced come back") && note.contains("a, b, d, never-committed"))
                .anyMatch(note -> note.startsWith("Left out: "));
        assertThat(plan().isEmpty()).isTrue();
        assertThat(committer(dataset).find("b")).isPresent();
    }

    @Test
    void aGapIsFilledFromTheHeadsIfThatIsUnambiguous() throws IOException {
        Snapshot before = dataset.snapshot();
        store.delete(DatasetLayout.logEntry(2));
        store.delete(DatasetLayout.ingestCopy("b"));

        plan().apply();

        LogEntry entry = dataset.entry(2);
        assertThat(entry.operation()).isEqualTo(Operation.RECOVERED);
        assertThat(entry.ingest()).isEqualTo("b");
        ChunkTable after = dataset.snapshot().table();
        assertThat(after.recoveredVersion()).isEqualTo(2);
        assertThat(chunks(after)).isEqualTo(chunks(before.table()));
        assertThat(after.classes()).isEqualTo(before.table().classes());
    }

    private static List<String> chunks(ChunkTable table) {
        List<String> chunks = new ArrayList<>();
        for (int i = 0; i < table.size(); i++) {
            chunks.add(table.ordinal(i) + " " + table.summary(i) + " " + table.addedIn(i) + " without "
                    + Arrays.toString(table.removedRows(i)) + ", " + table.liveRows(i) + " rows left");
        }
        return chunks;
    }

    @Test
    void aGapIsNotFilledByGuessing() throws IOException {
        write(store, id(9), "never-committed", "train", "cow/1");
        store.delete(DatasetLayout.logEntry(2));
        store.delete(DatasetLayout.ingestCopy("b"));

        assertThatThrownBy(this::plan)
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("Versions [2] of /memory")
                .hasMessageContaining("they added 1 chunk, and 2 chunks of 2 ingests");
    }

    @Test
    void aLostRemovalIsSaid() throws IOException {
        store.delete(DatasetLayout.logEntry(3));
        store.delete(DatasetLayout.ingestCopy("c"));

        RecoveryPlan plan = plan();
        plan.apply();

        assertThat(plan.notes()).anyMatch(note -> note.contains("removed come back"));
        assertThat(dataset.snapshot().table().liveRows()).isEqualTo(6);
    }

    @Test
    void twoEntriesForOneVersionAreNotDecidedUpon() throws IOException {
        LogEntry entry = dataset.entry(2);
        LogEntry rival = new LogEntry(
                entry.dataset(), 2, "rival", entry.operation(), 0, "x", entry.added(), List.of(), Map.of(), Map.of());
        store.createIfAbsent(DatasetLayout.ingestCopy("rival"), rival.encode());

        assertThatThrownBy(this::plan).hasMessageContaining("Two entries claim version 2");
    }

    @Test
    void aRecoveryThatBreaksOffIsRepeated() throws IOException {
        List<byte[]> before = files();
        for (int step = 0; step < 4; step++) {
            deleteAll(DatasetLayout.LOG);
            int[] left = {step};
            FaultyObjectStore faulty = new FaultyObjectStore(store)
                    .on(
                            call -> call.operation() == FaultyObjectStore.Operation.CREATE && left[0]-- == 0,
                            FaultyObjectStore.Fault.CRASH_BEFORE);
            try {
                Recovery.plan(faulty, "eve").apply();
            } catch (FaultyObjectStore.SimulatedCrash e) {
                // The test injects this crash.
            }

            plan().apply();

            assertThat(files()).usingRecursiveComparison().isEqualTo(before);
        }
    }
}
