package dev.stoker.metadata.recovery;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.errors.StoreUnavailableException;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A store that does not answer for a moment has lost nothing. */
class RecoveryDuringOutageTest {

    private final InMemoryObjectStore store = new InMemoryObjectStore(CLOCK);

    @BeforeEach
    void create() throws IOException {
        VersionCommitter committer = committer(Dataset.create(store, info()));
        for (int chunk = 1; chunk <= 3; chunk++) {
            String ingest = "ingest-" + chunk;
            committer.commit(VersionRequest.append(
                    ingest,
                    List.of(write(store, id(chunk), ingest, "train", "cat/" + chunk, "dog/" + chunk)),
                    Map.of("label", List.of("cat", "dog")),
                    Map.of()));
        }
        committer.commit(VersionRequest.remove("remove", base -> List.of(RemovedRows.of(0, 1)), Map.of()));
        committer.commit(VersionRequest.append(
                "last", List.of(write(store, id(4), "last", "train", "eel/1")), Map.of(), Map.of()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "_stoker/log/00000000000000000004.avro",
                "_stoker/ingests/remove.avro",
                "_stoker/dataset.json",
                "_stoker/dataset.json _stoker/dataset-copy.json",
                "_stoker/log/00000000000000000005.avro _stoker/ingests/last.avro"
            })
    void noPlanTakesAnOutageForDamage(String lost) throws IOException {
        for (String name : lost.split(" ")) {
            store.delete(name);
        }
        RecoveryPlan wanted = Recovery.plan(store, "eve");
        assertThat(wanted.isEmpty()).isFalse();
        boolean reached = true;
        for (int step = 0; reached; step++) {
            int at = step;
            FaultyObjectStore faulty = new FaultyObjectStore(store).on(call -> call.number() == at, Fault.AWAY);
            try {
                RecoveryPlan plan = Recovery.plan(faulty, "eve");
                assertThat(plan.steps()).as("outage at call " + step).isEqualTo(wanted.steps());
                assertThat(plan.notes()).as("outage at call " + step).isEqualTo(wanted.notes());
            } catch (StoreUnavailableException e) {
                assertThat(e).hasMessageContaining("Injected outage");
            }
            reached = faulty.calls().size() > step;
        }
    }
}
