package dev.stoker.metadata;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.place;
import static dev.stoker.metadata.SampleDatasets.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.recovery.Recovery;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Call;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Commits on a log that has lost its newest entries. */
class LostNewestVersionTest {

    private final InMemoryObjectStore memory = new InMemoryObjectStore(CLOCK);
    private final FaultyObjectStore faulty = new FaultyObjectStore(memory);
    private Dataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(memory, info());
        place(memory, 1, 4);
    }

    private static VersionRequest append(String ingest, ChunkSummary chunk) {
        return VersionRequest.append(ingest, List.of(chunk), Map.of(), Map.of());
    }

    @Test
    void refusesToReplaceALostNewestVersion() throws IOException {
        for (int v = 1; v <= 3; v++) {
            committer(dataset).commit(append("i" + v, summary(v, "train", 1)));
        }
        for (long lost = 3; lost >= 1; lost--) {
            memory.delete(DatasetLayout.logEntry(lost));
            for (VersionRequest request : List.of(
                    append("new", summary(4, "train", 1)),
                    VersionRequest.replace("new", List.of(summary(4, "train", 1)), Map.of(), Map.of()))) {
                assertThatThrownBy(() -> committer(dataset).commit(request))
                        .isInstanceOf(CorruptDataException.class)
                        .hasMessage("The commit log of /memory has lost its newest version " + lost + ": /memory/"
                                + DatasetLayout.logEntry(lost) + " is missing, although /memory/"
                                + DatasetLayout.versionSign(lost)
                                + " shows that it was committed; restore it with: stoker recover /memory");
            }
            assertThatThrownBy(() -> committer(dataset).abandon("new")).isInstanceOf(CorruptDataException.class);
            assertThatThrownBy(() -> committer(dataset).find("new")).isInstanceOf(CorruptDataException.class);
            assertThat(dataset.latestVersion()).isEqualTo(lost - 1);
        }
        Recovery.plan(memory, "eve").apply();
        assertThat(committer(dataset)
                        .commit(append("new", summary(4, "train", 1)))
                        .version())
                .isEqualTo(4);
    }

    @Test
    void theNextCommitSignsAVersionWhoseWriterDied() throws IOException {
        faulty.on(LostNewestVersionTest::createsFirstSign, Fault.FAIL_BEFORE);
        committer(Dataset.open(faulty)).commit(append("a", summary(1, "train", 1)));
        assertThat(memory.list(DatasetLayout.VERSIONS).toList()).isEmpty();
        assertThat(memory.list(DatasetLayout.INGESTS).toList()).isEmpty();

        committer(dataset).commit(append("b", summary(2, "train", 1)));

        assertThat(new String(memory.readAll(DatasetLayout.versionSign(1), 10), StandardCharsets.US_ASCII))
                .isEqualTo("a\n");
        assertThat(memory.list(DatasetLayout.VERSIONS).toList()).hasSize(2);
    }

    @Test
    void theCheckForALostVersionCostsOneRequest() throws IOException {
        committer(Dataset.open(faulty)).commit(append("a", summary(1, "train", 1)));
        int before = faulty.calls().size();

        committer(Dataset.open(faulty)).commit(append("b", summary(2, "train", 1)));

        assertThat(faulty.calls().subList(before, faulty.calls().size()))
                .filteredOn(call -> call.name().startsWith(DatasetLayout.VERSIONS))
                .extracting(Call::operation, Call::name)
                .containsExactly(
                        tuple(FaultyObjectStore.Operation.LENGTH, DatasetLayout.versionSign(2)),
                        tuple(FaultyObjectStore.Operation.CREATE, DatasetLayout.versionSign(2)));
    }

    private static boolean createsFirstSign(Call call) {
        return call.operation() == FaultyObjectStore.Operation.CREATE
                && call.name().equals(DatasetLayout.versionSign(1));
    }
}
