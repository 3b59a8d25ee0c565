package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.testing.Advice;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows without a value that a field of the dataset requires, also because a struct is null. */
class RequiredFieldsTest {
    @RegisterExtension
    static final MiniClusterExtension CLUSTER = TestClusters.withTwoSlots();

    @TempDir
    private Path directory;

    private Path data;
    private Path source;

    @BeforeEach
    void create() throws Exception {
        data = directory.resolve("data");
        source = directory.resolve("rows.jsonl");
        Files.writeString(source, "{\"s\":{\"n\":1}}\n{\"s\":null}\n{\"s\":{\"n\":3}}\n");
        List<Field> fields = List.of(new Field("s.n", ScalarType.INT64, false, false));
        try (ObjectStore store = new LocalObjectStore(data)) {
            Dataset.create(
                    store,
                    new DatasetInfo(
                            UUID.randomUUID(),
                            "data",
                            Instant.parse("2026-01-01T00:00:00Z"),
                            fields,
                            Map.of(),
                            Map.of()));
        }
    }

    private IngestResult ingest(String order, List<String> options) throws Exception {
        List<String> arguments =
                new ArrayList<>(List.of(source.toString(), data.toString(), "--append", "--order", order));
        arguments.addAll(options);
        return RowIngestJob.run(
                RowIngestOptions.parse(arguments.toArray(String[]::new)),
                JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment(
                        new Configuration().set(RestartStrategyOptions.RESTART_STRATEGY, "none"))),
                IngestListener.silent());
    }

    @ParameterizedTest
    @ValueSource(strings = {"listed", "shuffled"})
    void theAdviceLeavesOutTheRow(String order) throws Exception {
        Throwable thrown = catchThrowable(() -> ingest(order, List.of()));

        assertThat(thrown)
                .isInstanceOf(IngestFailedException.class)
                .hasMessageContaining("column s.n: there is no value, but the dataset's field s.n requires one")
                .hasMessageContaining("with --where");
        assertThat(ingest(order, Advice.in(thrown.getMessage(), "--on-error")).samples())
                .isEqualTo(2);
        // Other keys.
        source = Files.move(source, directory.resolve("more.jsonl"));
        assertThatThrownBy(() -> ingest(order, List.of("--where", "s.n IS NULL")))
                .isInstanceOf(IngestFailedException.class);
        assertThat(ingest(order, List.of("--where", "s.n IS NOT NULL")).samples())
                .isEqualTo(2);
    }
}
