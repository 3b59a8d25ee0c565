package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.ingest.pack.plan.SampleFiles;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.lease.LeaseHeldException;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Ingests into one dataset at the same time: each commits, or is refused before it harms the other. */
@Timeout(300)
class ConcurrentIngestsTest {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(new MiniClusterResourceConfiguration.Builder()
            .setNumberTaskManagers(2)
            .setNumberSlotsPerTaskManager(2)
            .build());

    /** The cluster runs in this JVM, so deserialized tasks find objects here that cannot be serialized. */
    private static final AtomicReference<SampleFiles> FILES = new AtomicReference<>();

    @TempDir
    private Path directory;

    private Path source;
    private Map<String, byte[]> files;

    @BeforeEach
    void makeTree() throws IOException {
        source = directory.resolve("source");
        files = Trees.images(source, 2, 15, 3000);
    }

    @Test
    void twoThatAppendToANewDatasetBothCommitWhoeverIsSlower() throws Exception {
        Path target = directory.resolve("target");
        Path two = directory.resolve("two");
        files.putAll(Trees.images(two, "z", 1, 5, 3000));
        FILES.set(path -> {
            if (Packed.latestVersion(target) == 0) {
                try {
                    Ingests.run(two, target, "--append", "--parallelism", "1", "--chunk-size", "64kb");
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
            return SampleFiles.LOCAL.open(path);
        });

        Ingests.run(path -> FILES.get().open(path), source, target, "--append", "--parallelism", "1");

        assertThat(Packed.latestVersion(target)).isEqualTo(2);
        Packed.assertHasImages(target, files);
    }

    @Test
    void aNewDatasetThatAnotherMakesMeanwhileIsTaken() throws Exception {
        Path target = directory.resolve("target");
        Path two = directory.resolve("two");
        files.putAll(Trees.images(two, "z", 1, 5, 3000));
        // The other one begins and ends between the look at the target and the creation of the dataset.
        FaultyObjectStore store = FaultyStores.open(target);
        boolean[] raced = new boolean[1];
        store.on(
                call -> {
                    if (!raced[0]
                            && call.operation() == FaultyObjectStore.Operation.CREATE
                            && call.name().equals(DatasetLayout.DATASET_JSON)) {
                        raced[0] = true;
                        try {
                            ingest(two, target);
                        } catch (Exception e) {
                            throw new AssertionError(e);
                        }
                    }
                    return false;
                },
                Fault.FAIL_BEFORE);

        Ingests.runWithoutRestarts(FaultyStores.OPENED, source, target, "--append");

        assertThat(raced[0]).isTrue();
        Packed.assertHasImages(target, files);
        assertThat(store.calls())
                .noneMatch(call -> call.operation() == FaultyObjectStore.Operation.DELETE
                        && call.name().equals(DatasetLayout.DATASET_JSON));
    }

    private static void ingest(Path tree, Path target) throws IOException, InterruptedException {
        Ingests.run(tree, target, "--append", "--parallelism", "1");
    }

    @Test
    void concurrentIngestsWithDifferentClassesKeepEveryLabel() throws Exception {
        Path target = directory.resolve("target");
        Ingests.run(source, target, "--label-from", "parent-dir");
        Path one = directory.resolve("one");
        Path two = directory.resolve("two");
        Path three = directory.resolve("three");
        files.putAll(Trees.images(one, "zebra", 4, 10, 500));
        files.putAll(Trees.images(two, "ant", 4, 10, 500));
        files.putAll(Trees.images(three, "moth", 2, 10, 500));

        List<Exception> failures = new CopyOnWriteArrayList<>();
        List<Thread> threads = List.of(one, two).stream()
                .map(tree -> new Thread(() -> {
                    try {
                        Ingests.run(tree, target, "--append", "--label-from", "parent-dir", "--parallelism", "1");
                    } catch (IOException | InterruptedException | RuntimeException e) {
                        failures.add(e);
                    }
                }))
                .toList();
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        Ingests.run(three, target, "--append", "--label-from", "parent-dir");

        assertThat(failures).isEmpty();
        Packed packed = Packed.read(target);
        assertThat(packed.snapshot().version()).isEqualTo(4);
        assertThat(packed.keys()).hasSameSizeAs(files.keySet());
        packed.samples()
                .forEach(sample -> assertThat(sample.fields().get("label"))
                        .as(sample.key())
                        .isEqualTo(
                                Path.of(sample.key()).getParent().getFileName().toString()));
        assertThat(Set.copyOf(packed.snapshot().classes().names("label")))
                .hasSize(packed.snapshot().classes().names("label").size());
    }

    @Test
    void refusesAKeyThatAnotherIngestHasCommittedMeanwhile() throws Exception {
        Path target = directory.resolve("target");
        Ingests.run(source, target);
        Path one = directory.resolve("one");
        Trees.file(one, "same/1.jpg", "one");
        Trees.file(one, "only/1.jpg", "one");
        Path two = directory.resolve("two");
        Trees.file(two, "same/1.jpg", "two");
        SampleFiles meanwhile = path -> {
            if (path.endsWith("same/1.jpg") && Packed.latestVersion(target) == 1) {
                try {
                    Ingests.run(two, target, "--append", "--parallelism", "1");
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
            return SampleFiles.LOCAL.open(path);
        };
        FILES.set(meanwhile);

        assertThatThrownBy(() ->
                        Ingests.run(path -> FILES.get().open(path), one, target, "--append", "--parallelism", "1"))
                .isInstanceOf(IngestFailedException.class)
                .hasMessageContaining("already has a sample with the key same/1.jpg")
                .hasMessageContaining("committed while this ingest ran");
        assertThat(Packed.latestVersion(target)).isEqualTo(2);
    }

    @Test
    void ofTwoFirstIngestsTheLaterIsRefusedBeforeItPacks() throws Exception {
        Path target = directory.resolve("target");
        Path two = directory.resolve("two");
        Trees.images(two, "z", 1, 5, 3000);
        AtomicReference<Exception> later = new AtomicReference<>();
        FILES.set(path -> {
            if (later.get() == null) {
                try {
                    Ingests.run(two, target, "--parallelism", "1");
                } catch (IOException | InterruptedException | RuntimeException e) {
                    later.set(e);
                }
            }
            return SampleFiles.LOCAL.open(path);
        });

        Ingests.run(path -> FILES.get().open(path), source, target, "--parallelism", "1", "--read-threads", "1");

        assertThat(later.get())
                .isInstanceOf(LeaseHeldException.class)
                .hasMessageContaining("Nothing was packed")
                .hasMessageContaining("--append");
        Packed.assertHasImages(target, files);
    }
}
