package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.lease.LeaseHeldException;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A first ingest that failed binds nothing: the next one can have other fields. */
class FailedFirstIngestTest {
    @RegisterExtension
    static final MiniClusterExtension CLUSTER = TestClusters.withTwoSlots();

    private static final Configuration NO_RESTART =
            new Configuration().set(RestartStrategyOptions.RESTART_STRATEGY, "none");

    @TempDir
    private Path directory;

    private Path table;
    private Path data;

    @BeforeEach
    void write() throws Exception {
        data = directory.resolve("data");
        table = directory.resolve("table.csv");
        Files.writeString(table, "id,n\n" + "1,2\n".repeat(50) + "2,300\n");
    }

    private IngestResult ingest(String... options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(table.toString(), data.toString()));
        arguments.addAll(List.of(options));
        RowIngestOptions rows = RowIngestOptions.parse(arguments.toArray(String[]::new));
        JobLauncher launcher = JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment(NO_RESTART));
        return RowIngestJob.run(rows, launcher, IngestListener.silent());
    }

    private List<String> fields() throws Exception {
        try (ObjectStore store = new LocalObjectStore(data)) {
            return Dataset.open(store).info().fields().stream().map(Field::name).toList();
        }
    }

    private void fail() {
        assertThatThrownBy(() -> ingest("--type", "n=int8", "--columns", "n"))
                .isInstanceOf(IngestFailedException.class)
                .hasMessageContaining("300");
    }

    @Test
    void theNextIngestHasItsOwnFields() throws Exception {
        fail();
        assertThat(fields()).containsExactly("n");

        assertThat(ingest().samples()).isEqualTo(51);

        assertThat(fields()).containsExactly("id", "n");
        assertThat(data.resolve("_stoker/dataset-copy.json"))
                .hasSameBinaryContentAs(data.resolve("_stoker/dataset.json"));
        assertThat(Packed.leases(data)).isEmpty();
        assertThatThrownBy(() -> ingest("--columns", "id"))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("already has version 1");
    }

    @Test
    void soDoesAnIngestOfFiles() throws Exception {
        fail();
        Path photos = directory.resolve("photos");
        Trees.file(photos, "cat/1.jpg", "x");

        assertThat(Ingests.run(photos, data, "--label-from", "parent-dir").samples())
                .isEqualTo(1);

        assertThat(fields()).containsExactly("label", "image");
    }

    @Test
    void theSameFieldsKeepTheDescription() throws Exception {
        fail();
        String before = Files.readString(data.resolve("_stoker/dataset.json"));

        ingest("--type", "n=int8", "--columns", "n", "--on-error", "skip");

        assertThat(Files.readString(data.resolve("_stoker/dataset.json"))).isEqualTo(before);
    }

    @Test
    void aLiveWriterKeepsItsFields() throws Exception {
        fail();
        try (ObjectStore store = new LocalObjectStore(data)) {
            new Leases(Dataset.open(store)).take(UUID.randomUUID().toString(), Clock.systemUTC(), "someone", "");
        }
        assertThatThrownBy(this::ingest).isInstanceOf(LeaseHeldException.class);
        assertThat(fields()).containsExactly("n");
        assertThatThrownBy(() -> ingest("--append"))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("has no field id");
    }
}
