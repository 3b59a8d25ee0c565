package dev.stoker.metadata;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.place;
import static dev.stoker.metadata.SampleDatasets.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.dataset.Lease;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
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
        committer(dataset).commit(CommitRequest.append("a", List.of(summary(1, "train", 1)), Map.of(), Map.of()));

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
