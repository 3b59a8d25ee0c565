package dev.stoker.metadata.commit;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.place;
import static dev.stoker.metadata.SampleDatasets.summary;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.TablePolicy;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A committer fails or dies at every call it makes to the store. */
class CommitCrashTest {

    private static VersionRequest request(String ingest, int chunk) {
        return VersionRequest.append(ingest, List.of(summary(chunk, "train", 1)), Map.of(), Map.of());
    }

    private static void attempt(FaultyObjectStore faulty) {
        try {
            new VersionCommitter(Dataset.open(faulty), CLOCK, "ada", new TablePolicy(2, 100))
                    .commit(request("mine", 3));
        } catch (IOException | FaultyObjectStore.SimulatedCrash e) {
            // The test injects these faults.
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {
                "FAIL_BEFORE",
                "FAIL_AFTER",
                "UNKNOWN_WITHOUT_EFFECT",
                "UNKNOWN_AFTER_EFFECT",
                "NO_SPACE",
                "FLIPPED_BIT",
                "TRUNCATED",
                "CRASH_BEFORE",
                "CRASH_AFTER"
            })
    void nothingIsVisibleOrExactlyOneVersion(Fault fault) throws IOException {
        boolean reached = true;
        int step = 0;
        int published = 0;
        for (; reached; step++) {
            InMemoryObjectStore memory = new InMemoryObjectStore(CLOCK);
            Dataset dataset = Dataset.create(memory, info());
            place(memory, 1, 4);
            committer(dataset).commit(request("before-1", 1));
            committer(dataset).commit(request("before-2", 2));
            memory.delete(DatasetLayout.ingestCopy("before-2"));
            int at = step;
            FaultyObjectStore faulty = new FaultyObjectStore(memory).on(call -> call.number() == at, fault);

            attempt(faulty);
            reached = faulty.calls().size() > step;

            String where = fault + " at call " + step;
            assertThat(dataset.latestVersion()).as(where).isIn(2L, 3L);
            boolean visible = dataset.latestVersion() == 3;
            published += visible ? 1 : 0;
            assertThat(dataset.snapshot().table().size()).as(where).isEqualTo(visible ? 3 : 2);

            // Another ingest commits meanwhile, then the first is run again under its id.
            Commit other = committer(dataset).commit(request("other", 4));
            Commit again = committer(dataset).commit(request("mine", 3));
            assertThat(again.repeated()).as(where).isEqualTo(visible);
            assertThat(other.version()).as(where).isEqualTo(visible ? 4 : 3);
            assertThat(again.version()).as(where).isEqualTo(visible ? 3 : 4);
            assertThat(dataset.latestVersion()).as(where).isEqualTo(4);
            assertThat(dataset.snapshot().table().liveRows()).as(where).isEqualTo(4);
            for (String ingest : List.of("before-1", "before-2", "mine", "other")) {
                assertThat(committer(dataset).find(ingest))
                        .as(where + " " + ingest)
                        .isPresent();
            }
        }
        assertThat(step).isBetween(8, 30);
        assertThat(published).isPositive();
    }
}
