package dev.stoker.metadata;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.place;
import static dev.stoker.metadata.SampleDatasets.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.CountingObjectStore;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Call;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class DatasetTest {

    private final InMemoryObjectStore memory = new InMemoryObjectStore(CLOCK);

    @Test
    void opensTheNewestOfManyVersionsWithoutLookingAtThem() throws IOException {
        int versions = 100_000;
        InMemoryObjectStore store = new InMemoryObjectStore();
        Dataset.create(store, SampleDatasets.info());
        ChunkTable table = ChunkTable.empty(SampleDatasets.info().id());
        for (long version = 1; version <= versions; version++) {
            LogEntry entry = empty(version);
            if (version % 100 == 51 && version > versions - 1000) {
                store.createIfAbsent(DatasetLayout.table(version - 1), table.encode());
            }
            table = table.with(entry);
            store.createIfAbsent(
                    DatasetLayout.logEntry(version), version > versions - 100 ? entry.encode() : new byte[0]);
        }
        CountingObjectStore counted = new CountingObjectStore(store);

        assertThat(Dataset.open(counted).snapshot().version()).isEqualTo(versions);
        assertThat(counted.reads()).isLessThan(60);
        assertThat(counted.lengths()).isZero();
        assertThat(counted.listed()).isLessThan(100);

        counted.reset();
        SampleDatasets.place(store, 1, 1);
        SampleDatasets.committer(Dataset.open(counted))
                .commit(VersionRequest.append(
                        "more", List.of(SampleDatasets.summary(1, "train", 3)), Map.of(), Map.of()));
        assertThat(counted.reads()).isLessThan(70);
        assertThat(counted.lengths())
                .as("the chunk, the second copy of the version before, and the sign of the next one")
                .isEqualTo(3);
        assertThat(counted.listed()).isLessThan(200);
    }

    private static LogEntry empty(long version) {
        return new LogEntry(
                SampleDatasets.info().id(),
                version,
                "ingest-" + version,
                Operation.INGEST,
                0,
                "ada",
                List.of(),
                List.of(),
                Map.of(),
                Map.of());
    }

    private static Dataset withVersions(InMemoryObjectStore store, int versions, TablePolicy tables)
            throws IOException {
        Dataset dataset = Dataset.create(store, info());
        VersionCommitter committer = new VersionCommitter(dataset, CLOCK, "ada", tables);
        place(store, 2, 2 * versions + 1);
        for (int v = 1; v <= versions; v++) {
            committer.commit(VersionRequest.append(
                    "i" + v,
                    List.of(summary(2 * v, "train", 10), summary(2 * v + 1, v % 2 == 0 ? "val" : "train", 5)),
                    Map.of("label", List.of("c" + v, "a" + v)),
                    Map.of()));
        }
        return dataset;
    }

    @Test
    void isCreatedOnce() throws IOException {
        Dataset created = Dataset.create(memory, info());

        assertThat(created.latestVersion()).isZero();
        assertThat(Dataset.open(memory).info()).isEqualTo(info());
        assertThat(memory.readAll(DatasetLayout.DATASET_COPY, 1 << 20)).isEqualTo(info().encode());
        assertThatThrownBy(() -> Dataset.create(memory, info()))
                .isInstanceOf(DatasetExistsException.class)
                .hasMessage("/memory is a Stoker dataset already; choose another path, or add to it");
    }

    @Test
    void isNeverCreatedOverTheLogOrTheChunksOfAnother() throws IOException {
        withVersions(memory, 1, TablePolicy.STANDARD);
        memory.delete(DatasetLayout.DATASET_JSON);
        for (int step = 0; step < 3; step++) {
            assertThatThrownBy(() -> Dataset.create(memory, info()))
                    .isInstanceOf(StokerException.class)
                    .hasMessageContaining("/memory has the log or the chunks of a dataset, but no _stoker/dataset.json")
                    .hasMessageContaining("stoker recover /memory");
            assertThatThrownBy(() -> Dataset.open(memory)).isInstanceOf(StokerException.class);
            memory.delete(step == 0 ? DatasetLayout.logEntry(1) : DatasetLayout.ingestCopy("i1"));
        }
    }

    @Test
    void aListingThatMissesAnEntryWhichAppearsMeanwhileIsNoDamage() throws IOException {
        Dataset whole = withVersions(memory, 3, TablePolicy.STANDARD);
        // As readdir may: it shows a name that was added during the listing, and not the one added before that.
        Dataset dataset = Dataset.open(new UnlistedObjectStore(memory, DatasetLayout.logEntry(2)));

        assertThat(dataset.latestVersion()).isEqualTo(3);
        assertThat(dataset.snapshot().table().size()).isEqualTo(6);
        Commit commit = new VersionCommitter(dataset, CLOCK, "ada")
                .commit(VersionRequest.append("next", List.of(summary(2, "train", 1)), Map.of(), Map.of()));
        assertThat(commit.version()).isEqualTo(4);
        assertThat(whole.latestVersion()).isEqualTo(4);
    }

    @Test
    void whatIsNoDatasetIsOneLine() throws IOException {
        assertThatThrownBy(() -> Dataset.open(memory))
                .isInstanceOf(NotADatasetException.class)
                .hasMessage("/memory is not a Stoker dataset: it has no _stoker/dataset.json; check the path,"
                        + " or pack a dataset there with `stoker ingest`");
        assertThat(Dataset.find(memory)).isEmpty();
    }

    @Test
    void aDamagedDatasetJsonIsCorrupt() {
        byte[] content = info().encode();
        content[content.length - 3] ^= 1;
        memory.corrupt(DatasetLayout.DATASET_JSON, content);

        assertThatThrownBy(() -> Dataset.open(memory))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("_stoker/dataset.json is corrupt")
                .hasMessageEndingWith("; restore it with `stoker recover /memory`");
    }

    @Test
    void aDatasetWithoutVersionsSaysSo() throws IOException {
        Dataset dataset = Dataset.create(memory, info());

        assertThatThrownBy(dataset::snapshot)
                .isInstanceOf(UnknownVersionException.class)
                .hasMessage(
                        "The dataset /memory has no version yet: no ingest into it has finished. If one has, its log"
                                + " was lost: stoker recover /memory");
        assertThatThrownBy(() -> dataset.snapshot(1)).isInstanceOf(UnknownVersionException.class);
        assertThat(dataset.latest().version()).isZero();
    }

    @Test
    void anUnknownVersionNamesTheRange() throws IOException {
        Dataset dataset = withVersions(memory, 3, TablePolicy.STANDARD);

        assertThatThrownBy(() -> dataset.snapshot(9))
                .isInstanceOf(UnknownVersionException.class)
                .hasMessage("The dataset /memory has no version 9; it has versions 1 to 3");
        assertThatThrownBy(() -> dataset.snapshot(0)).hasMessageContaining("no version 0");
        assertThatThrownBy(() -> dataset.entry(4)).hasMessageContaining("no version 4");
        assertThat(dataset.entry(2).ingest()).isEqualTo("i2");
    }

    @Test
    void anUnknownSplitNamesTheSplits() throws IOException {
        Snapshot snapshot = withVersions(memory, 2, TablePolicy.STANDARD).snapshot();

        assertThat(snapshot.splits()).containsExactly("train", "val");
        assertThatThrownBy(() -> snapshot.stream("test"))
                .isInstanceOf(UnknownSplitException.class)
                .hasMessage("Version 2 of dataset photos has no split 'test'; it has train, val");
    }

    @Test
    void opensEveryVersion() throws IOException {
        Dataset dataset = withVersions(memory, 7, new TablePolicy(3, 1000));

        assertThat(memory.list(DatasetLayout.TABLES).toList()).hasSize(2);
        for (long version = 1; version <= 7; version++) {
            Snapshot snapshot = dataset.snapshot(version);
            assertThat(snapshot.version()).isEqualTo(version);
            assertThat(snapshot.table().size()).isEqualTo((int) (2 * version));
            assertThat(snapshot.classes().names("label"))
                    .hasSize((int) (2 * version))
                    .startsWith("a1", "c1");
        }
        StreamChunks val = dataset.snapshot().stream("val");
        assertThat(val.size()).isEqualTo(3);
        assertThat(val.ordinal(0)).isEqualTo(3);
        assertThat(val.liveRows()).isEqualTo(15);
    }

    @Test
    void openingReadsLogAndTablesOnly() throws IOException {
        withVersions(memory, 205, TablePolicy.STANDARD);
        for (int i = 2; i < 412; i++) {
            memory.createIfAbsent("chunks/xx/" + i, "not to be read".getBytes(StandardCharsets.UTF_8));
        }
        FaultyObjectStore counting = new FaultyObjectStore(memory);

        Snapshot snapshot = Dataset.open(counting).snapshot();

        assertThat(snapshot.version()).isEqualTo(205);
        assertThat(snapshot.table().size()).isEqualTo(410);
        List<Call> calls = counting.calls();
        assertThat(calls).extracting(Call::name).allMatch(name -> name.startsWith("_stoker/"));
        // dataset.json, two listings, the table of version 200, five log entries.
        assertThat(calls).hasSize(9);
    }

    @Test
    void openingAVersionReadsNoLaterEntry() throws IOException {
        withVersions(memory, 20, new TablePolicy(5, 1000));
        FaultyObjectStore counting = new FaultyObjectStore(memory);

        Dataset.open(counting).snapshot(12);

        assertThat(counting.calls())
                .filteredOn(call -> call.operation() == FaultyObjectStore.Operation.READ_ALL)
                .extracting(Call::name)
                .containsExactly(
                        DatasetLayout.DATASET_JSON,
                        DatasetLayout.table(10),
                        DatasetLayout.logEntry(11),
                        DatasetLayout.logEntry(12));
    }

    @Test
    void aDamagedTableIsPassedOver() throws IOException {
        Dataset dataset = withVersions(memory, 7, new TablePolicy(3, 1000));
        memory.corrupt(DatasetLayout.table(6), new byte[] {1, 2, 3});
        memory.corrupt(DatasetLayout.table(3), memory.readAll(DatasetLayout.table(6), 100));

        assertThat(dataset.snapshot().table().size()).isEqualTo(14);
    }

    @Test
    void aTableOfAnotherVersionOrDatasetIsPassedOver() throws IOException {
        Dataset dataset = withVersions(memory, 7, new TablePolicy(3, 1000));
        memory.corrupt(DatasetLayout.table(6), memory.readAll(DatasetLayout.table(3), 1 << 20));

        assertThat(dataset.snapshot().table().size()).isEqualTo(14);
    }

    @Test
    void aMissingEntryIsNotSkipped() throws IOException {
        Dataset dataset = withVersions(memory, 7, new TablePolicy(3, 1000));
        memory.delete(DatasetLayout.logEntry(7));
        assertThat(dataset.latestVersion()).isEqualTo(6);

        memory.delete(DatasetLayout.logEntry(6));
        assertThatThrownBy(dataset::snapshot)
                .isInstanceOf(CorruptDataException.class)
                .hasMessage("The commit log of /memory lacks _stoker/log/00000000000000000006.avro although later"
                        + " files are there; rebuild it with `stoker recover /memory`");

        memory.delete(DatasetLayout.table(6));
        memory.delete(DatasetLayout.logEntry(4));
        assertThatThrownBy(dataset::latestVersion).hasMessageContaining("00004.avro");
    }

    @Test
    void aDamagedEntryIsCorrupt() throws IOException {
        Dataset dataset = withVersions(memory, 2, TablePolicy.STANDARD);
        byte[] content = memory.readAll(DatasetLayout.logEntry(2), 1 << 20);
        content[content.length / 2] ^= 4;
        memory.corrupt(DatasetLayout.logEntry(2), content);

        assertThatThrownBy(dataset::snapshot)
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("_stoker/log/00000000000000000002.avro is corrupt");
        assertThat(dataset.snapshot(1).version()).isEqualTo(1);
    }

    @Test
    void anEntryInTheWrongPlaceIsForeign() throws IOException {
        Dataset dataset = withVersions(memory, 3, TablePolicy.STANDARD);
        memory.corrupt(DatasetLayout.logEntry(3), memory.readAll(DatasetLayout.logEntry(2), 1 << 20));

        assertThatThrownBy(dataset::snapshot)
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("it is the log entry of version 2");
    }

    @Test
    void anEntryOfAnotherDatasetIsForeign() throws IOException {
        Dataset dataset = withVersions(memory, 1, TablePolicy.STANDARD);
        InMemoryObjectStore other = new InMemoryObjectStore();
        DatasetInfo info = info();
        Dataset stranger = Dataset.create(
                other, new DatasetInfo(UUID.randomUUID(), "other", info.created(), info.fields(), info.options()));
        place(other, 1, 1);
        SampleDatasets.committer(stranger)
                .commit(VersionRequest.append("i1", List.of(summary(1, "train", 1)), Map.of(), Map.of()));
        memory.corrupt(DatasetLayout.logEntry(1), other.readAll(DatasetLayout.logEntry(1), 1 << 20));

        assertThatThrownBy(dataset::snapshot)
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("belongs to dataset " + stranger.info().id());
    }

    @Test
    void failuresOfTheStorePassThrough() throws IOException {
        withVersions(memory, 3, TablePolicy.STANDARD);
        int reads = 0;
        for (int n = 0; ; n++) {
            int at = n;
            FaultyObjectStore faulty =
                    new FaultyObjectStore(memory).on(call -> call.number() == at, FaultyObjectStore.Fault.FLIPPED_BIT);
            try {
                Dataset.open(faulty).snapshot();
            } catch (StokerException e) {
                reads++;
            }
            if (faulty.calls().size() <= n) {
                break;
            }
        }
        assertThat(reads).isEqualTo(4);
    }
}
