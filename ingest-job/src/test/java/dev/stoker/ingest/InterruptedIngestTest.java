package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.ingest.pack.plan.SampleAccess;
import dev.stoker.ingest.pack.plan.SampleFiles;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.metadata.lease.LeaseHeldException;
import dev.stoker.schemas.testing.Cells;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
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

    /** The cluster runs in this JVM, so deserialized tasks find the test's latches here. */
    private static volatile CountDownLatch reading;

    private static volatile CountDownLatch goOn;

    private static final String ID = "01234567-89ab-4cde-8f01-23456789abcd";

    /** A process dies at one of its calls. */
    private record Death(FaultyObjectStore.Call step, Fault fault) {
        boolean isAfterPublishing() {
            return step.name().startsWith("_stoker/log/") && fault == Fault.CRASH_AFTER;
        }
    }

    @TempDir
    private Path directory;

    private Path source;
    private Map<String, byte[]> files;

    @BeforeEach
    void makeTree() throws IOException {
        source = directory.resolve("source");
        files = Trees.images(source, 2, 15, 3000);
    }

    private IngestResult ingest(Path target, DatasetStore store, String... options)
            throws IOException, InterruptedException {
        return Ingests.runWithoutRestarts(store, source, target, options);
    }

    @Test
    @Tag("full-stores")
    void killedAtEveryStepItLeavesNothingOrOneVersion() throws Exception {
        String[] options = {"--ingest-id", ID, "--chunk-size", "32kb", "--parallelism", "1", "--read-threads", "1"};
        Path whole = directory.resolve("whole");
        FaultyObjectStore counting = FaultyStores.open(whole);
        ingest(whole, FaultyStores.OPENED, options);
        List<FaultyObjectStore.Call> steps = counting.calls().stream()
                .filter(call -> call.operation().changes())
                .toList();
        assertThat(steps.stream().map(FaultyObjectStore.Call::operation).distinct())
                .contains(FaultyObjectStore.Operation.CREATE, FaultyObjectStore.Operation.COMMIT_WRITER);

        List<Death> deaths = Cells.drawn(
                        steps.stream()
                                .flatMap(step -> Stream.of(Fault.CRASH_BEFORE, Fault.CRASH_AFTER)
                                        .map(fault -> new Death(step, fault))),
                        Death::isAfterPublishing,
                        Death::fault)
                .toList();
        int visible = 0;
        for (Death death : deaths) {
            FaultyObjectStore.Call step = death.step();
            Fault fault = death.fault();
            Path target = directory.resolve(fault + "-" + step.number());
            FaultyStores.open(target).on(call -> call.number() == step.number(), fault);

            assertThatThrownBy(() -> ingest(target, FaultyStores.OPENED, options))
                    .as("%s at %s", fault, step)
                    .satisfiesAnyOf(
                            e -> assertThat(e).isInstanceOf(IngestFailedException.class),
                            e -> assertThat(e).isInstanceOf(FaultyObjectStore.SimulatedCrash.class));

            long version = Packed.latestVersion(target);
            assertThat(version).isIn(0L, 1L);
            if (version == 1) {
                visible++;
                Packed.assertHasImages(target, files);
            }
            IngestResult again = ingest(target, DatasetStore.BY_LOCATION, options);
            assertThat(again.version()).isEqualTo(1);
            assertThat(Packed.latestVersion(target)).isEqualTo(1);
            Packed.assertHasImages(target, files);
        }
        assertThat(visible).as("crashes after the publishing").isPositive();
    }

    @Test
    void settlesACommitWhoseOutcomeIsUnknown() throws Exception {
        for (Fault fault : List.of(Fault.UNKNOWN_AFTER_EFFECT, Fault.UNKNOWN_WITHOUT_EFFECT)) {
            Path target = directory.resolve(fault.toString());
            FaultyStores.open(target)
                    .once(
                            call -> call.name().startsWith("_stoker/log/")
                                    && call.operation().changes(),
                            fault);

            assertThat(ingest(target, FaultyStores.OPENED, "--ingest-id", ID).version())
                    .isEqualTo(1);

            assertThat(Packed.latestVersion(target)).isEqualTo(1);
            Packed.assertHasImages(target, files);
        }
    }

    @Test
    void waitsForAStoreThatIsAway() throws Exception {
        Path target = directory.resolve("away");
        FaultyObjectStore store = FaultyStores.open(target);
        store.once(call -> call.operation() == FaultyObjectStore.Operation.COMMIT_WRITER, Fault.AWAY);
        store.once(
                call -> call.name().startsWith("_stoker/log/")
                        && call.operation().changes(),
                Fault.AWAY);

        assertThat(ingest(target, FaultyStores.OPENED).version()).isEqualTo(1);

        Packed.assertHasImages(target, files);
    }

    @Test
    void saysThatThereIsNoSpaceLeft() {
        Path target = directory.resolve("full");
        FaultyStores.open(target).on(call -> call.operation() == FaultyObjectStore.Operation.WRITE, Fault.NO_SPACE);

        assertThatThrownBy(() -> ingest(target, FaultyStores.OPENED))
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
                    throw new ClosedByInterruptException();
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
                        IngestListener.silent(),
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
        Packed.assertHasImages(target, all);
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
                throw new ClosedByInterruptException();
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
        Packed.assertHasImages(target, files);
    }

    @Test
    void anIngestThatDiedBeforeItsFirstVersionIsGoneOnWithByTheNext() throws Exception {
        Path target = directory.resolve("target");
        FaultyStores.open(target)
                .on(call -> call.operation() == FaultyObjectStore.Operation.COMMIT_WRITER, Fault.CRASH_BEFORE);
        assertThatThrownBy(() -> ingest(target, FaultyStores.OPENED, "--ingest-id", ID))
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

        Packed.assertHasImages(target, files);
        assertThat(Packed.info(target).id()).isEqualTo(id);
    }

    @Test
    void leavesNoLeaseBehind() throws Exception {
        Path target = directory.resolve("target");
        Ingests.run(source, target);

        assertThat(Packed.leases(target)).isEmpty();
        FaultyStores.open(target)
                .on(call -> call.operation() == FaultyObjectStore.Operation.COMMIT_WRITER, Fault.NO_SPACE);
        assertThatThrownBy(() -> ingest(target, FaultyStores.OPENED, "--replace", "--ingest-id", ID))
                .isInstanceOf(IngestFailedException.class);
        assertThat(Packed.leases(target)).isEmpty();
        FaultyStores.open(target)
                .on(call -> call.operation() == FaultyObjectStore.Operation.COMMIT_WRITER, Fault.CRASH_BEFORE);
        assertThatThrownBy(() -> ingest(target, FaultyStores.OPENED, "--replace", "--ingest-id", ID))
                .isInstanceOf(FaultyObjectStore.SimulatedCrash.class);
        assertThat(Packed.leases(target)).containsExactly(ID);
        ingest(target, DatasetStore.BY_LOCATION, "--replace", "--ingest-id", ID);
        assertThat(Packed.leases(target)).isEmpty();
    }
}
