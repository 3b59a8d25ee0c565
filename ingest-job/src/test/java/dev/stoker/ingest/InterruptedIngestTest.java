package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.ingest.pack.SampleAccess;
import dev.stoker.ingest.pack.SampleFiles;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.LeaseHeldException;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.LocalObjectStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Ingests that end where they should not: nothing is visible then, or exactly one version. */
@Timeout(300)
class InterruptedIngestTest {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(new MiniClusterResourceConfiguration.Builder()
            .setNumberTaskManagers(2)
            .setNumberSlotsPerTaskManager(2)
            .build());

    /** The cluster runs in this JVM, so deserialized tasks find the test's store and latches here. */
    private static final Map<String, FaultyObjectStore> STORES = new ConcurrentHashMap<>();

    private static volatile CountDownLatch reading;
    private static volatile CountDownLatch goOn;

    private static final DatasetStore FAULTY = target -> STORES.get(target);
    private static final String ID = "01234567-89ab-4cde-8f01-23456789abcd";
    private static final Configuration NO_RESTART =
            new Configuration().set(RestartStrategyOptions.RESTART_STRATEGY, "none");

    @TempDir
    private Path directory;

    private Path source;
    private Map<String, byte[]> files;

    @BeforeEach
    void makeTree() throws IOException {
        source = directory.resolve("source");
        files = Trees.images(source, 2, 15, 3000);
    }

    private FaultyObjectStore faulty(Path target) {
        FaultyObjectStore store = new FaultyObjectStore(new LocalObjectStore(target));
        STORES.put(target.toString(), store);
        return store;
    }

    private IngestResult ingest(Path target, DatasetStore store, String... options)
            throws IOException, InterruptedException {
        return IngestJob.run(
                Ingests.options(source, target, options),
                JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment(NO_RESTART)),
                IngestListener.SILENT,
                new SampleAccess(SampleFiles.LOCAL, store));
    }

    private void assertPacked(Path target, Map<String, byte[]> expected) throws IOException {
        Map<String, byte[]> packed = Packed.read(target).bytes("image");
        assertThat(packed.keySet()).isEqualTo(expected.keySet());
        packed.forEach((key, bytes) -> assertThat(bytes).as(key).isEqualTo(expected.get(key)));
    }

    @Test
    void killedAtEveryStepItLeavesNothingOrOneVersion() throws Exception {
        String[] options = {"--ingest-id", ID, "--chunk-size", "32kb", "--parallelism", "1", "--read-threads", "1"};
        Path whole = directory.resolve("whole");
        FaultyObjectStore counting = faulty(whole);
        ingest(whole, FAULTY, options);
        List<FaultyObjectStore.Call> steps = counting.calls().stream()
                .filter(call -> call.operation().changes())
                .toList();
        assertThat(steps.stream().map(FaultyObjectStore.Call::operation).distinct())
                .contains(FaultyObjectStore.Operation.CREATE, FaultyObjectStore.Operation.COMMIT_WRITER);

        int visible = 0;
        for (FaultyObjectStore.Call step : steps) {
            for (Fault fault : List.of(Fault.CRASH_BEFORE, Fault.CRASH_AFTER)) {
                Path target = directory.resolve(fault + "-" + step.number());
                faulty(target).on(call -> call.number() == step.number(), fault);

                assertThatThrownBy(() -> ingest(target, FAULTY, options))
                        .as("%s at %s", fault, step)
                        .satisfiesAnyOf(
                                e -> assertThat(e).isInstanceOf(IngestFailedException.class),
                                e -> assertThat(e).isInstanceOf(FaultyObjectStore.SimulatedCrash.class));

                long version = Packed.latestVersion(target);
                assertThat(version).isIn(0L, 1L);
                if (version == 1) {
                    visible++;
                    assertPacked(target, files);
                }
                IngestResult again = ingest(target, DatasetStore.BY_LOCATION, options);
                assertThat(again.version()).isEqualTo(1);
                assertThat(Packed.latestVersion(target)).isEqualTo(1);
                assertPacked(target, files);
            }
        }
        assertThat(visible).as("crashes after the publishing").isPositive();
    }

    @Test
    void settlesACommitWhoseOutcomeIsUnknown() throws Exception {
        for (Fault fault : List.of(Fault.UNKNOWN_AFTER_EFFECT, Fault.UNKNOWN_WITHOUT_EFFECT)) {
            Path target = directory.resolve(fault.toString());
            faulty(target)
                    .once(
                            call -> call.name().startsWith("_stoker/log/")
                                    && call.operation().changes(),
                            fault);

            assertThat(ingest(target, FAULTY, "--ingest-id", ID).version()).isEqualTo(1);

            assertThat(Packed.latestVersion(target)).isEqualTo(1);
            assertPacked(target, files);
        }
    }

    @Test
    void waitsForAStoreThatIsAway() throws Exception {
        Path target = directory.resolve("away");
        FaultyObjectStore store = faulty(target);
        store.once(call -> call.operation() == FaultyObjectStore.Operation.COMMIT_WRITER, Fault.AWAY);
        store.once(
                call -> call.name().startsWith("_stoker/log/")
                        && call.operation().changes(),
                Fault.AWAY);

        assertThat(ingest(target, FAULTY).version()).isEqualTo(1);

        assertPacked(target, files);
    }

    @Test
    void saysThatThereIsNoSpaceLeft() {
        Path target = directory.resolve("full");
        faulty(target).on(call -> call.operation() == FaultyObjectStore.Operation.WRITE, Fault.NO_SPACE);

        assertThatThrownBy(() -> ingest(target, FAULTY))
                .isInstanceOf(IngestFailedException.class)
                .hasMessageContainingAll("pace", "--ingest-id")
                .hasMessageNotContaining("\n");
    }

    @Test
    void goesOnAfterTaskManagersAreLost(@InjectMiniCluster MiniCluster cluster) throws Exception {
        Path target = directory.resolve("target");
        Path big = directory.resolve("big");
        Map<String, byte[]> all = Trees.images(big, 20, 40, 1500);
        reading = new CountDownLatch(1);
        goOn = new CountDownLatch(1);
        SampleFiles pausing = path -> {
            if (path.endsWith("c7/3.jpg")) {
                reading.countDown();
                try {
                    goOn.await();
                } catch (InterruptedException e) {
                    throw new java.nio.channels.ClosedByInterruptException();
                }
            }
            return SampleFiles.LOCAL.open(path);
        };
        AtomicReference<Object> end = new AtomicReference<>();
        Configuration restart = new Configuration()
                .set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay")
                .set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 5);
        Thread thread = new Thread(() -> {
            try {
                end.set(IngestJob.run(
                        Ingests.options(big, target, "--parallelism", "2", "--chunk-size", "64kb"),
                        JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment(restart)),
                        IngestListener.SILENT,
                        new SampleAccess(pausing, DatasetStore.BY_LOCATION)));
            } catch (IOException | InterruptedException | RuntimeException e) {
                end.set(e);
            }
        });
        thread.start();
        reading.await();

        // Both, so that what the walk has put out is lost as well, wherever it was.
        cluster.terminateTaskManager(0).get();
        cluster.startTaskManager();
        cluster.terminateTaskManager(1).get();
        cluster.startTaskManager();
        goOn.countDown();
        thread.join();

        assertThat(end.get()).isInstanceOf(IngestResult.class);
        assertThat(Packed.latestVersion(target)).isEqualTo(1);
        assertPacked(target, all);
    }

    @Test
    void anInterruptedThreadCancelsTheJobAndALaterRunGoesOn() throws Exception {
        Path target = directory.resolve("target");
        reading = new CountDownLatch(1);
        SampleFiles stuck = path -> {
            reading.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                throw new java.nio.channels.ClosedByInterruptException();
            }
            return SampleFiles.LOCAL.open(path);
        };
        AtomicReference<Exception> end = new AtomicReference<>();
        Thread thread = new Thread(() -> {
            try {
                Ingests.run(new SampleAccess(stuck, DatasetStore.BY_LOCATION), source, target, "--ingest-id", ID);
            } catch (IOException | InterruptedException | RuntimeException e) {
                end.set(e);
            }
        });
        thread.start();
        reading.await();

        thread.interrupt();
        thread.join();

        assertThat(end.get()).isInstanceOf(InterruptedException.class);
        assertThat(Packed.latestVersion(target)).isZero();
        assertThat(Ingests.run(source, target, "--ingest-id", ID).version()).isEqualTo(1);
        assertPacked(target, files);
    }

    @Test
    void anIngestThatDiedBeforeItsFirstVersionIsGoneOnWithByTheNext() throws Exception {
        Path target = directory.resolve("target");
        faulty(target).on(call -> call.operation() == FaultyObjectStore.Operation.COMMIT_WRITER, Fault.CRASH_BEFORE);
        assertThatThrownBy(() -> ingest(target, FAULTY, "--ingest-id", ID))
                .isInstanceOf(FaultyObjectStore.SimulatedCrash.class);
        UUID id = Packed.info(target).id();

        // Its job ran on a cluster, so its end cannot be detected.
        assertThatThrownBy(() -> ingest(target, DatasetStore.BY_LOCATION))
                .isInstanceOf(LeaseHeldException.class)
                .hasMessageContainingAll("ingest " + ID, "Nothing was packed", "--append", "gc", "--break " + ID);
        assertThatThrownBy(() -> ingest(target, DatasetStore.BY_LOCATION, "--append", "--field", "picture"))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("has no field picture")
                .hasMessageContaining("another ingest began " + target + " with these fields");
        ingest(target, DatasetStore.BY_LOCATION, "--append", "--chunk-size", "32kb");

        assertPacked(target, files);
        assertThat(Packed.info(target).id()).isEqualTo(id);
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
        assertPacked(target, files);
    }

    @Test
    void aNewDatasetThatAnotherMakesMeanwhileIsTaken() throws Exception {
        Path target = directory.resolve("target");
        Path two = directory.resolve("two");
        files.putAll(Trees.images(two, "z", 1, 5, 3000));
        // The other one begins and ends between the look at the target and the creation of the dataset.
        FaultyObjectStore store = faulty(target);
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

        ingest(target, FAULTY, "--append");

        assertThat(raced[0]).isTrue();
        assertPacked(target, files);
        assertThat(store.calls())
                .noneMatch(call -> call.operation() == FaultyObjectStore.Operation.DELETE
                        && call.name().equals(DatasetLayout.DATASET_JSON));
    }

    private static void ingest(Path tree, Path target) throws IOException, InterruptedException {
        Ingests.run(tree, target, "--append", "--parallelism", "1");
    }

    @Test
    void leavesNoLeaseBehind() throws Exception {
        Path target = directory.resolve("target");
        Ingests.run(source, target);

        assertThat(Packed.leases(target)).isEmpty();
        faulty(target).on(call -> call.operation() == FaultyObjectStore.Operation.COMMIT_WRITER, Fault.NO_SPACE);
        assertThatThrownBy(() -> ingest(target, FAULTY, "--replace", "--ingest-id", ID))
                .isInstanceOf(IngestFailedException.class);
        assertThat(Packed.leases(target)).isEmpty();
        faulty(target).on(call -> call.operation() == FaultyObjectStore.Operation.COMMIT_WRITER, Fault.CRASH_BEFORE);
        assertThatThrownBy(() -> ingest(target, FAULTY, "--replace", "--ingest-id", ID))
                .isInstanceOf(FaultyObjectStore.SimulatedCrash.class);
        assertThat(Packed.leases(target)).containsExactly(ID);
        ingest(target, DatasetStore.BY_LOCATION, "--replace", "--ingest-id", ID);
        assertThat(Packed.leases(target)).isEmpty();
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

        List<Exception> failures = new java.util.concurrent.CopyOnWriteArrayList<>();
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
        assertPacked(target, files);
    }

    /** The cluster runs in this JVM, so deserialized tasks find objects here that cannot be serialized. */
    private static final AtomicReference<SampleFiles> FILES = new AtomicReference<>();
}
