package dev.stoker.metadata.lease;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.place;
import static dev.stoker.metadata.SampleDatasets.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetExistsException;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.schemas.dataset.Lease;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class LeasesTest {

    private final InMemoryObjectStore store = new InMemoryObjectStore(CLOCK);
    private Dataset dataset;
    private Leases leases;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(store, info());
        leases = new Leases(dataset);
    }

    /** A process of this machine that has ended. */
    private static String ended() {
        String own = WriterProcess.current();
        return own.substring(0, own.lastIndexOf('/') + 1) + "1";
    }

    @Test
    void isTakenOnceHoweverOftenItIsAskedFor() throws IOException {
        leases.take("a", CLOCK, "ada@host", "");
        leases.take("a", CLOCK, "bob@elsewhere", "");

        assertThat(leases.all())
                .containsExactly(Map.entry("a", new Lease(info().id(), "a", CLOCK.instant(), "ada@host", "")));
        leases.release("a");
        leases.release("a");
        assertThat(leases.all()).isEmpty();
    }

    @Test
    void isThereThoughTheStoreCannotTell() throws IOException {
        for (Fault fault : List.of(Fault.UNKNOWN_AFTER_EFFECT, Fault.UNKNOWN_WITHOUT_EFFECT)) {
            FaultyObjectStore faulty = new FaultyObjectStore(store)
                    .once(call -> call.name().equals(DatasetLayout.lease(fault.name())), fault);
            new Leases(Dataset.open(faulty)).take(fault.name(), CLOCK, "ada@host", "");
            assertThat(leases.all()).containsKey(fault.name());
        }
    }

    @Test
    void theFirstOfADatasetIsRefusedBesideAnother() throws IOException {
        leases.take("a", CLOCK, "ada@host", WriterProcess.current());

        assertThatThrownBy(() -> leases.takeAlone("b", CLOCK, "bob@host", ""))
                .isInstanceOf(LeaseHeldException.class)
                .hasMessageContainingAll(
                        "ingest a of ada@host, since 2026-11-20T10:00:00.123Z", "stoker gc /memory --break a --yes");
        assertThat(leases.all()).containsOnlyKeys("a");

        leases.takeAlone("a", CLOCK, "ada@host", WriterProcess.current());
        leases.release("a");
        leases.takeAlone("b", CLOCK, "bob@host", "");
        assertThat(leases.all()).containsOnlyKeys("b");
    }

    @RepeatedTest(3)
    void ofWritersThatBeginAtTheSameTimeOneGoesOn() throws Exception {
        int writers = 6;
        CyclicBarrier together = new CyclicBarrier(writers);
        ExecutorService threads = Executors.newFixedThreadPool(writers);
        try {
            List<Future<Boolean>> results = new ArrayList<>();
            for (int i = 0; i < writers; i++) {
                String ingest = "writer-" + i;
                results.add(threads.submit(() -> takesAlone(ingest, together)));
            }
            List<Boolean> alone = new ArrayList<>();
            for (Future<Boolean> result : results) {
                alone.add(result.get());
            }
            assertThat(alone).containsOnlyOnce(true);
            assertThat(leases.all()).containsOnlyKeys("writer-" + alone.indexOf(true));
        } finally {
            threads.shutdownNow();
        }
    }

    /** Looks for others when all writers have taken their leases. */
    private boolean takesAlone(String ingest, CyclicBarrier together) throws IOException {
        AtomicBoolean met = new AtomicBoolean();
        FaultyObjectStore own = new FaultyObjectStore(store)
                .on(
                        call -> {
                            boolean isFirst = call.operation() == FaultyObjectStore.Operation.LIST
                                    && call.name().equals(DatasetLayout.LEASES)
                                    && !met.getAndSet(true);
                            return isFirst && !meet(together);
                        },
                        Fault.FAIL_BEFORE);
        try {
            new Leases(Dataset.open(own)).takeAlone(ingest, CLOCK, "ada@host", "");
            return true;
        } catch (LeaseHeldException e) {
            return false;
        }
    }

    private static boolean meet(CyclicBarrier together) {
        try {
            together.await(60, TimeUnit.SECONDS);
            return true;
        } catch (Exception e) {
            return false;
        }
    }

    @Test
    void aWriterOfLongAgoIsNotWaitedFor() throws IOException {
        leases.take("z", InstantSource.fixed(CLOCK.instant().minusSeconds(6)), "ada@host", "");
        FaultyObjectStore counted = new FaultyObjectStore(store);

        assertThatThrownBy(() -> new Leases(Dataset.open(counted)).takeAlone("a", CLOCK, "bob@host", ""))
                .isInstanceOf(LeaseHeldException.class)
                .hasMessageContaining("ingest z of ada@host");
        assertThat(counted.calls())
                .filteredOn(call -> call.name().equals(DatasetLayout.LEASES)
                        && call.operation() == FaultyObjectStore.Operation.LIST)
                .hasSize(1);
    }

    @Test
    void aProcessThatHasEndedIsNotWaitedFor() throws IOException {
        leases.take("dead", CLOCK, "ada@host", ended());

        leases.takeAlone("b", CLOCK, "bob@host", "");

        assertThat(leases.all()).containsOnlyKeys("b", "dead");
        assertThat(Leases.isOfEndedProcess(leases.all().get("dead"))).isTrue();
        leases.take("dead", CLOCK, "ada@host", WriterProcess.current());
        assertThat(Leases.isOfEndedProcess(leases.all().get("dead"))).isFalse();
    }

    @Test
    void nothingIsSaidOfProcessesElsewhere() {
        for (String other : List.of("", "x", "boot/pid:[1]/7/8", "//", ended() + "/1/2")) {
            assertThat(WriterProcess.hasEnded(other)).as(other).isFalse();
        }
        assertThat(WriterProcess.hasEnded(WriterProcess.current())).isFalse();
        assertThat(WriterProcess.hasEnded(ended())).isTrue();
        String own = WriterProcess.current();
        String machine = own.substring(0, own.lastIndexOf('/', own.lastIndexOf('/') - 1));
        assertThat(WriterProcess.hasEnded(machine + "/4194305/1")).isTrue();
    }

    @Test
    void aVersionThatAnotherMadeMeanwhileIsNoticed() throws IOException {
        place(store, 1, 1);
        committer(dataset).commit(VersionRequest.append("a", List.of(summary(1, "train", 1)), Map.of(), Map.of()));

        assertThatThrownBy(() -> leases.takeAlone("b", CLOCK, "bob@host", ""))
                .isInstanceOf(DatasetExistsException.class);
        assertThat(leases.all()).isEmpty();
    }

    @Test
    void aVersionThatOnlyEndedAnIngestLeavesTheDatasetNew() throws IOException {
        GarbageCollection.end(dataset, "dead", CLOCK, "eve");

        leases.takeAlone("b", CLOCK, "bob@host", "");

        assertThat(leases.all()).containsOnlyKeys("b");
    }
}
