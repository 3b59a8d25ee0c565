package dev.stoker.metadata;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.metadata.verify.VerificationReport;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.PowerLoss;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The machine loses its power before every single change of the file system that an ingest makes. */
class PowerLossTest {

    @TempDir
    private Path directory;

    private static void ingest(ObjectStore store, boolean create, int chunk, String ingest) throws IOException {
        Dataset dataset = create ? Dataset.create(store, info()) : Dataset.open(store);
        ChunkSummary written = write(store, id(chunk), ingest, "train", "cat/" + chunk);
        new VersionCommitter(dataset, CLOCK, "ada", new TablePolicy(1, 1))
                .commit(VersionRequest.append(ingest, List.of(written), Map.of("label", List.of("cat")), Map.of()));
    }

    private void verify(Path root, long atLeast, long atMost, String where) throws Exception {
        Dataset dataset = Dataset.open(new LocalObjectStore(root));
        assertThat(dataset.latestVersion()).as(where).isBetween(atLeast, atMost);
        if (dataset.latestVersion() > 0) {
            VerificationReport report =
                    new Verification(dataset, Runnable::run, 1, bytes -> {}).run(dataset.snapshot());
            assertThat(report.problems()).as(where).isEmpty();
            assertThat(report.chunks()).as(where).isEqualTo((int) dataset.latestVersion());
        }
    }

    @Test
    void whatIsPublishedSurvivesAndNothingElseIsVisible() throws Exception {
        boolean failed = true;
        int step = 0;
        for (; failed; step++) {
            String where = "step " + step;
            Path machineRoot = Files.createDirectory(directory.resolve("machine-" + step));
            PowerLoss machine = new PowerLoss(machineRoot);
            ingest(machine.store("a/data"), true, 1, "first");
            failed = machine.during(machine.steps() + step, () -> ingest(machine.store("a/data"), false, 2, "second"));

            Path root = machineRoot.resolve("a/data");
            verify(root, failed ? 1 : 2, 2, where);

            Dataset after = Dataset.open(new LocalObjectStore(root));
            long version = after.latestVersion();
            ChunkSummary again = write(after.store(), id(3), "second", "train", "cat/3");
            Commit commit =
                    committer(after).commit(VersionRequest.append("second", List.of(again), Map.of(), Map.of()));
            assertThat(commit.version()).as(where).isEqualTo(2);
            assertThat(commit.repeated()).as(where).isEqualTo(version == 2);
            verify(root, 2, 2, where);
        }
        assertThat(step).isGreaterThan(15);
    }
}
