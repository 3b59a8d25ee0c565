package dev.stoker.metadata.rebuild;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.commit.Removal;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.index.IndexCheck;
import dev.stoker.metadata.index.ListEntry;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.SampleListing;
import dev.stoker.metadata.index.StoredSample;
import dev.stoker.metadata.index.build.BuildThreads;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.removal.SampleRemoval;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.Operation;
import dev.stoker.storage.CountingObjectStore;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RebuildTest {

    private final ExecutorService pool = Executors.newFixedThreadPool(2);
    private final BuildThreads threads = new BuildThreads(pool, 2, 1 << 20);
    private final InMemoryObjectStore store = new InMemoryObjectStore(SampleDatasets.CLOCK);
    private Dataset dataset;
    private int numbers;

    @AfterEach
    void close() {
        pool.shutdownNow();
    }

    private void create() throws IOException {
        dataset = Dataset.create(store, SampleDatasets.info());
    }

    private ChunkSummary chunk(String ingest, String split, Map<String, byte[]> images) throws IOException {
        return SampleDatasets.write(store, SampleDatasets.id(numbers++), ingest, split, images);
    }

    /** Images whose content names the ingest. */
    private static Map<String, byte[]> images(String ingest, String... keys) {
        Map<String, byte[]> images = new TreeMap<>();
        for (String key : keys) {
            images.put(key, (key + " of " + ingest).getBytes(StandardCharsets.UTF_8));
        }
        return images;
    }

    private void append(String ingest, ChunkSummary... chunks) throws IOException {
        commit(VersionRequest.append(ingest, List.of(chunks), Map.of("label", List.of("a", "b", "c")), Map.of()));
    }

    private void commit(VersionRequest request) throws IOException {
        SampleDatasets.committer(dataset).commit(request);
    }

    private void delete(String prefix) throws IOException {
        for (ObjectInfo object : store.list(prefix).toList()) {
            store.delete(object.name());
        }
    }

    private static Set<String> names(ObjectStore store) throws IOException {
        Set<String> names = new HashSet<>();
        for (ObjectInfo object : store.list("").toList()) {
            names.add(object.name());
        }
        return names;
    }

    private Rebuild rebuild(ObjectStore from) throws IOException, InterruptedException {
        try (Rebuild rebuild = Rebuild.plan(from, threads, chunks -> {})) {
            rebuild.apply();
            rebuild.index();
            return rebuild;
        }
    }

    /** Everything that a reader learns about the samples of a version, by key; places of samples may differ. */
    private static Map<String, List<Object>> samples(ObjectStore store, Snapshot snapshot) throws IOException {
        Map<String, List<Object>> samples = new TreeMap<>();
        SampleIndex index = SampleIndex.open(Dataset.open(store), snapshot);
        SampleListing listing = index.list("", "");
        for (Optional<ListEntry> entry = listing.next(); entry.isPresent(); entry = listing.next()) {
            String key = entry.get().name();
            StoredSample sample = index.get(key).orElseThrow();
            samples.put(
                    key,
                    List.of(
                            sample.stat().split(),
                            sample.stat().length(),
                            sample.stat().crc32c(),
                            sample.head().classes(0).get(sample.head().column(0).intAt(sample.row())),
                            sample.payload(1),
                            snapshot.table()
                                    .id(snapshot.table().indexOf(sample.stat().ordinal()))));
        }
        return samples;
    }

    private void assertSound(Snapshot snapshot) throws IOException, InterruptedException {
        assertThat(new Verification(Dataset.open(store), Runnable::run, 1, bytes -> {})
                        .run(snapshot)
                        .problems())
                .isEmpty();
        IndexCheck.Report report = new IndexCheck(Dataset.open(store), snapshot, read -> {}).run();
        assertThat(report.differences()).isZero();
        assertThat(report.chunksWithoutRun()).isZero();
    }

    @Test
    void equalsTheLostDatasetInEveryAnswer() throws Exception {
        create();
        append(
                "one",
                chunk("one", "train", images("one", "a/1", "a/2", "b/1")),
                chunk("one", "val", images("one", "a/3")));
        append("two", chunk("two", "train", images("two", "c/1", "b/2")));
        Map<String, List<Object>> expected = samples(store, dataset.latest());
        Set<String> chunks = names(store);
        chunks.removeIf(name -> name.startsWith("_stoker"));
        delete("_stoker/");

        Rebuild rebuild = rebuild(store);

        Snapshot rebuilt = Dataset.open(store).latest();
        assertThat(rebuilt.version()).isEqualTo(1);
        assertThat(rebuild.versions()).isEqualTo(1);
        assertThat(rebuild.samples()).isEqualTo(6);
        assertThat(samples(store, rebuilt)).isEqualTo(expected);
        assertThat(rebuilt.table().splits()).containsExactlyInAnyOrder("train", "val");
        assertThat(rebuilt.classes().names("label")).containsExactly("a", "b", "c");
        assertSound(rebuilt);
        assertThat(names(store)).containsAll(chunks);
        // A writer continues.
        dataset = Dataset.open(store);
        append("three", chunk("three", "train", images("three", "a/9")));
        assertThat(dataset.latest().version()).isEqualTo(2);
    }

    @Test
    void readsTwoRangesOfAChunkAndOneThousandthOfItsBytes() throws Exception {
        create();
        Random random = new Random(5);
        List<ChunkSummary> chunks = new ArrayList<>();
        for (int c = 0; c < 6; c++) {
            Map<String, byte[]> images = new TreeMap<>();
            for (int i = 0; i < 75; i++) {
                byte[] image = new byte[110_000];
                random.nextBytes(image);
                images.put("a/%08d.jpg".formatted(75 * c + i), image);
            }
            chunks.add(chunk("one", "train", images));
        }
        append("one", chunks.toArray(ChunkSummary[]::new));
        long total = chunks.stream().mapToLong(ChunkSummary::length).sum();
        for (String prefix : List.of("log/", "ingests/", "versions/", "tables/", "index/")) {
            delete("_stoker/" + prefix);
        }
        InMemoryObjectStore withOne = store.copy();
        chunks.stream().skip(1).forEach(chunk -> withOne.delete(ChunkNames.path(chunk.id())));
        CountingObjectStore one = new CountingObjectStore(withOne);
        rebuild(one);
        CountingObjectStore counted = new CountingObjectStore(store);

        rebuild(counted);

        assertThat(Dataset.open(store).latest().table().liveRows()).isEqualTo(450);
        // The other reads are those of dataset.json and of the new files.
        assertThat(counted.reads() - one.reads()).isEqualTo(2L * (chunks.size() - 1));
        assertThat(counted.bytes()).isLessThanOrEqualTo(total / 1000);
    }

    @Test
    void takesTheNewestOfSamplesWithTheSameKey() throws Exception {
        create();
        append("one", chunk("one", "train", images("one", "a/1", "a/2", "a/3")));
        append("two", chunk("two", "train", images("two", "b/1", "b/2")));
        commit(VersionRequest.compact(
                "compact-1",
                List.of(chunk("compact-1", "train", images("one", "a/1", "a/2"))),
                base -> Removal.EVERYTHING.from(base).subList(0, 1),
                Map.of("label", List.of("a")),
                Map.of()));
        ChunkSummary news = chunk("three", "train", images("three", "a/2", "b/2", "c/1"));
        SampleRemoval old = SampleRemoval.ofKeys(dataset, List.of("a/2", "b/2"));
        commit(new VersionRequest(
                "three", Operation.INGEST, List.of(news), old, Map.of("label", List.of("a", "b", "c")), Map.of()));
        Map<String, List<Object>> expected = samples(store, dataset.latest());
        delete("_stoker/");

        Rebuild rebuild = rebuild(store);

        Dataset rebuilt = Dataset.open(store);
        Map<String, List<Object>> found = samples(store, rebuilt.latest());
        // The compaction has left this one out, which therefore comes back.
        assertThat(found.remove("a/3")).isNotNull();
        assertThat(found).isEqualTo(expected);
        assertThat(rebuild.samples()).isEqualTo(6);
        assertThat(rebuild.versions()).isEqualTo(3);
        assertThat(rebuild.notes())
                .anyMatch(note -> note.startsWith("samples with the same key are in several chunks"));
        for (long version = 1; version <= 3; version++) {
            Snapshot snapshot = rebuilt.snapshot(version);
            assertThat(samples(store, snapshot)).hasSize((int) snapshot.table().liveRows());
        }
        assertSound(rebuilt.latest());
    }

    @Test
    void canBeRepeatedAfterAnInterruptionAtEachOfItsWrites() throws Exception {
        create();
        append("one", chunk("one", "train", images("one", "a/1", "a/2")));
        chunk("two", "train", images("two", "a/1"));
        delete("_stoker/");
        InMemoryObjectStore lost = store.copy();
        rebuild(store);
        Map<String, List<Object>> expected = samples(store, Dataset.open(store).latest());

        InMemoryObjectStore interrupted = lost.copy();
        interrupted.createIfAbsent(DatasetLayout.logEntry(2), store.readAll(DatasetLayout.logEntry(2), 1 << 20));
        rebuild(interrupted);

        assertThat(samples(interrupted, Dataset.open(interrupted).latest())).isEqualTo(expected);
        assertThat(interrupted.readAll(DatasetLayout.logEntry(1), 1 << 20))
                .isEqualTo(store.readAll(DatasetLayout.logEntry(1), 1 << 20));
    }

    @Test
    void leavesOutDamagedChunksAndThoseOfARunningIngest() throws Exception {
        create();
        ChunkSummary bad = chunk("one", "train", images("one", "b/1"));
        append("one", chunk("one", "train", images("one", "a/1", "a/2")), bad);
        new Leases(dataset).take("running", SampleDatasets.CLOCK, "ada@host", "");
        chunk("running", "train", images("running", "c/1"));
        for (String prefix : List.of("log/", "ingests/", "versions/", "tables/", "index/")) {
            delete("_stoker/" + prefix);
        }
        byte[] content = store.readAll(ChunkNames.path(bad.id()), 1 << 20);
        content[(int) bad.headLength() - 1] ^= 1;
        store.corrupt(ChunkNames.path(bad.id()), content);

        Rebuild rebuild = rebuild(store);

        assertThat(samples(store, Dataset.open(store).latest())).containsOnlyKeys("a/1", "a/2");
        assertThat(rebuild.notes())
                .anyMatch(note -> note.contains("ingest running are left out"))
                .anyMatch(note ->
                        note.startsWith("left out: ") && note.contains(bad.id().toString()));
    }

    @Test
    void refusesADatasetThatHasAnyPartOfItsHistory() throws Exception {
        create();
        append("one", chunk("one", "train", images("one", "a/1")));
        Set<String> before = names(store);

        assertThatThrownBy(() -> rebuild(store))
                .isInstanceOf(StokerException.class)
                .hasMessageContaining("stoker recover")
                .hasMessageContaining("move _stoker away");
        for (String part : List.of("log/", "ingests/")) {
            delete("_stoker/" + part);
            assertThatThrownBy(() -> rebuild(store)).isInstanceOf(StokerException.class);
            before.removeIf(name -> name.startsWith("_stoker/" + part));
        }
        assertThat(names(store)).isEqualTo(before);
    }
}
