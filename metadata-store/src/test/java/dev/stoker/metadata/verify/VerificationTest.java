package dev.stoker.metadata.verify;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class VerificationTest {

    private final InMemoryObjectStore store = new InMemoryObjectStore(CLOCK);
    private final ExecutorService threads = Executors.newFixedThreadPool(2);
    private final AtomicLong progress = new AtomicLong();
    private Dataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(store, info());
        committer(dataset)
                .commit(VersionRequest.append(
                        "a",
                        List.of(
                                write(store, id(1), "a", "train", "cat/1", "dog/1", "cat/2"),
                                write(store, id(2), "a", "val", "dog/2")),
                        Map.of("label", List.of("cat", "dog")),
                        Map.of()));
        committer(dataset)
                .commit(VersionRequest.append(
                        "b", List.of(write(store, id(3), "b", "train", "cat/3", "cat/4")), Map.of(), Map.of()));
    }

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    private VerificationReport verify() throws Exception {
        return new Verification(dataset, threads, 2, progress::addAndGet).run(dataset.snapshot());
    }

    private byte[] chunk(int number) throws IOException {
        return store.readAll(ChunkNames.path(id(number)), 1 << 20);
    }

    @Test
    void aCleanVersionIsClean() throws Exception {
        VerificationReport report = verify();

        assertThat(report.problems()).isEmpty();
        assertThat(report.isClean()).isTrue();
        assertThat(report.version()).isEqualTo(2);
        assertThat(report.chunks()).isEqualTo(3);
        assertThat(report.samples()).isEqualTo(6);
        assertThat(report.bytes())
                .isEqualTo(dataset.snapshot().table().liveBytes())
                .isEqualTo(progress.get());
    }

    @Test
    void everyFlippedBitOfAChunkIsFound() throws Exception {
        byte[] good = chunk(2);
        for (int at = 0; at < good.length; at++) {
            byte[] bad = good.clone();
            bad[at] ^= (byte) (1 << (at % 8));
            store.corrupt(ChunkNames.path(id(2)), bad);

            VerificationReport report = verify();

            assertThat(report.problems()).as("byte " + at).isNotEmpty();
            assertThat(report.problems()).as("byte " + at).allMatch(problem -> problem.chunk() == 1);
            assertThat(report.problems())
                    .as("byte " + at)
                    .noneMatch(problem -> problem.message().contains("stoker verify"));
        }
    }

    @Test
    void everyTruncationOfAChunkIsFound() throws Exception {
        byte[] good = chunk(2);
        for (int length = 0; length < good.length; length += 7) {
            store.corrupt(ChunkNames.path(id(2)), Arrays.copyOf(good, length));

            assertThat(verify().problems()).as("length " + length).hasSize(1);
        }
    }

    @Test
    void damagedSamplesAreNamedAllOfThem() throws Exception {
        byte[] bad = chunk(1);
        int payload = dataset.snapshot().table().headLength(0);
        // "image of cat/1", "image of dog/1", "image of cat/2": 14 bytes each.
        bad[payload + 15] ^= 1;
        bad[payload + 41] ^= 1;
        store.corrupt(ChunkNames.path(id(1)), bad);

        List<Problem> problems = verify().problems();

        assertThat(problems).extracting(Problem::row).containsExactly(1, 2);
        assertThat(problems).extracting(Problem::key).containsExactly("dog/1", "cat/2");
        assertThat(problems.get(0).file()).isEqualTo("/memory/" + ChunkNames.path(id(1)));
        assertThat(problems.get(0).message()).startsWith("CRC32C of image of sample 'dog/1': expected ");
    }

    @Test
    void samplesLongerThanTheBufferAndEmptyOnesAreChecked() throws Exception {
        Map<String, byte[]> images = new LinkedHashMap<>();
        int[] lengths = {0, 3 << 20, 0, 0, (1 << 20) - 1, 1, 5, 0};
        for (int i = 0; i < lengths.length; i++) {
            images.put("cat/" + i, new byte[lengths[i]]);
        }
        committer(dataset)
                .commit(VersionRequest.append(
                        "big", List.of(write(store, id(7), "big", "train", images)), Map.of(), Map.of()));
        assertThat(verify().problems()).isEmpty();

        byte[] bad = store.readAll(ChunkNames.path(id(7)), 1 << 30);
        int payload = dataset.snapshot().table().headLength(3);
        bad[payload + (3 << 20) - 1] ^= 1;
        bad[payload + (4 << 20) - 1] ^= 1;
        store.corrupt(ChunkNames.path(id(7)), bad);

        assertThat(verify().problems()).extracting(Problem::key).containsExactly("cat/1", "cat/5");
    }

    @Test
    void missingAndSwappedChunksAreFound() throws Exception {
        byte[] other = chunk(3);
        store.delete(ChunkNames.path(id(2)));
        store.corrupt(ChunkNames.path(id(1)), other);

        List<Problem> problems = verify().problems();

        assertThat(problems).extracting(Problem::chunk).containsExactly(0L, 1L);
        assertThat(problems.get(1).message()).isEqualTo("The file is missing");
    }

    @Test
    void aDamagedLogOrTableIsFound() throws Exception {
        Snapshot snapshot = dataset.snapshot();
        store.corrupt(DatasetLayout.logEntry(1), new byte[] {1});
        store.corrupt(DatasetLayout.ingestCopy("b"), store.readAll(DatasetLayout.logEntry(1), 10));
        store.corrupt(DatasetLayout.table(1), new byte[] {1});

        VerificationReport report = new Verification(dataset, threads, 2, bytes -> {}).run(snapshot);

        assertThat(report.problems())
                .extracting(Problem::file)
                .containsExactlyInAnyOrder(
                        "/memory/" + DatasetLayout.logEntry(1),
                        "/memory/" + DatasetLayout.ingestCopy("b"),
                        "/memory/" + DatasetLayout.table(1));
    }

    @Test
    void aLostNewestVersionIsFound() throws Exception {
        store.delete(DatasetLayout.logEntry(2));

        assertThat(verify().problems())
                .extracting(Problem::file)
                .containsExactly("/memory/" + DatasetLayout.logEntry(2));
    }

    @Test
    void aMissingSecondCopyIsFoundUnlessItIsTheNewest() throws Exception {
        store.delete(DatasetLayout.ingestCopy("a"));
        store.delete(DatasetLayout.ingestCopy("b"));

        assertThat(verify().problems())
                .extracting(Problem::file)
                .containsExactly("/memory/" + DatasetLayout.ingestCopy("a"));
    }
}
