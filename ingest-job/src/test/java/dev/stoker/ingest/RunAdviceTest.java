package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.ingest.spec.IngestTarget;
import dev.stoker.ingest.spec.TargetDataset;
import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.LocalObjectStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Follows the advice of ingests that run and fail. */
class RunAdviceTest extends AdvisedIngest {
    @RegisterExtension
    static final MiniClusterExtension CLUSTER = TestClusters.withTwoSlots();

    @Test
    void aTargetThatHasAVersion() throws Exception {
        source.file("1.jpg", "x");
        assertThat(source.run()).isEqualTo(AdvisedSource.GOOD);
        String said = source.run();
        assertThat(said)
                .contains("add to it with --append, or create a version with only the new samples with --replace");
        assertThat(source.run("--replace")).isEqualTo(AdvisedSource.GOOD);
        source.delete("1.jpg");
        source.file("2.jpg", "x");
        assertThat(source.run("--append")).isEqualTo(AdvisedSource.GOOD);
    }

    @Test
    void aKeyThatTheDatasetHas() throws Exception {
        source.file("1.jpg", "x");
        source.run();
        source.file("2.jpg", "x");
        source.assertRunHelps("--on-duplicate", "--append", "true");
        String said = source.run("--append");
        assertThat(said).contains("replace all samples with --replace instead of --append");
        assertThat(source.run("--replace")).isEqualTo(AdvisedSource.GOOD);
    }

    @Test
    void textThatIsNotUtf8() throws Exception {
        source.file("1.txt", new byte[] {(byte) 0xff});
        source.assertRunHelps("--field");
    }

    @Test
    void textToLeaveOut() throws Exception {
        source.file("1.txt", new byte[] {(byte) 0xff});
        source.file("2.txt", "x");
        source.assertRunHelps("--on-error");
    }

    @Test
    void filesWithoutAClass() throws Exception {
        source.file("a/1.jpg", "x");
        source.file("2.jpg", "x");
        source.assertRunHelps("--on-error", "--label-from", "parent-dir");
    }

    @Test
    void filesThatAnExpressionDoesNotMatch() throws Exception {
        source.file("a/1.jpg", "x");
        source.file("b/2.jpg", "x");
        source.assertRunHelps("--on-error", "--label-from", "regex:(a)/");
    }

    @Test
    void filesThatATableDoesNotName() throws Exception {
        source.file("a/1.jpg", "x");
        source.file("b/2.jpg", "x");
        Path table = Files.writeString(directory.resolve("labels.csv"), "a/1.jpg,cat\n");
        source.assertRunHelps("--on-error", "--label-from", "csv:" + table);
    }

    @Test
    void sidecarsThatAreNoNumbers() throws Exception {
        source.file("1.jpg", "x");
        source.file("1.txt", "many");
        source.file("2.jpg", "x");
        source.file("2.txt", "2");
        source.assertRunHelps("--on-error", "--sidecar", ".txt=count:int64");
    }

    @Test
    void rowsThatCannotBeSamples() throws Exception {
        source.file("a.csv", "id,v\n1,x\n2,y,z\n");
        source.assertRunHelps("--on-error");
    }

    @Test
    void anIngestThatFailed() throws Exception {
        source.file("a.csv", "id,v\n1,x\n,y\n");
        String said = source.run("--key", "id");
        List<String> options = AdvisedSource.follow(said, "--ingest-id", "", "", "--key", "id");
        source.file("a.csv", "id,v\n1,x\n2,y\n");
        assertThat(source.run(options)).as(said).isEqualTo(AdvisedSource.GOOD);
    }

    @Test
    void anotherIngestThatWasFaster() throws Exception {
        source.file("1.jpg", "x");
        source.run();
        DatasetInfo info = Dataset.open(new LocalObjectStore(source.target())).info();
        String target = source.target().toString();
        Throwable begun = catchThrowable(
                () -> TargetDataset.begin(target, DatasetStore.BY_LOCATION, info, info, "ingest-2", "process"));
        Throwable leased =
                catchThrowable(() -> new IngestTarget(target, DatasetStore.BY_LOCATION, IngestRun.Effect.CREATE)
                        .lease(info, "ingest-3", "process"));
        for (Throwable said : List.of(begun, leased)) {
            assertThat(said)
                    .hasMessageContaining("another ingest has committed to " + target + " meanwhile; add to it with"
                            + " --append, or create a version with only the new samples with --replace");
        }
        assertThat(source.run("--replace")).isEqualTo(AdvisedSource.GOOD);
    }
}
