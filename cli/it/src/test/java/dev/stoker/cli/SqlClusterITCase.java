package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.metadata.Dataset;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Statements of {@code stoker sql} on a real cluster: one JobManager and two TaskManagers, each a process with a
 * separate address.
 */
@Timeout(400)
@Tag("full-programs")
class SqlClusterITCase {
    private static final JsonMapper JSON = new JsonMapper();
    private static final int ROWS = 200_000;

    @TempDir
    private Path directory;

    private Path datasets;

    @Test
    void anInsertCommitsOneVersionAlthoughATaskManagerIsKilled() throws Exception {
        datasets = Files.createDirectories(directory.resolve("datasets"));
        try (FlinkCluster cluster = FlinkCluster.withSql(directory)) {
            cluster.startJobManager();
            cluster.startTaskManager("tm1", "127.0.0.3");
            cluster.startTaskManager("tm2", "127.0.0.4");
            cluster.awaitTaskManagers(2);
            Path client = cluster.client(
                    "parallelism.default: 2",
                    "execution.batch.adaptive.auto-parallelism.enabled: false",
                    "restart-strategy.type: fixed-delay",
                    "restart-strategy.fixed-delay.attempts: 100",
                    "restart-strategy.fixed-delay.delay: 100 ms");
            try (StokerProcess insert = sql(client, """
                    CREATE TEMPORARY TABLE source (number BIGINT) WITH ('connector' = 'datagen',
                      'number-of-rows' = '%1$d', 'fields.number.kind' = 'sequence',
                      'fields.number.start' = '1', 'fields.number.end' = '%1$d');
                    CREATE TEMPORARY TABLE numbers (number BIGINT) WITH ('connector' = 'stoker',
                      'path' = '%2$s', 'sink.chunk-size' = '16kb');
                    INSERT INTO numbers SELECT number FROM source
                    """.formatted(ROWS, datasets.resolve("numbers")))) {
                cluster.await(() -> chunks() >= 4, "chunk files");
                assertThat(versions()).isZero();
                cluster.kill("tm2");
                assertThat(insert.code()).as(insert.output()).isZero();
            }
            assertThat(failures(cluster)).isNotEmpty();
            assertThat(versions()).isEqualTo(1);
            try (StokerProcess count =
                    sql(client, "SELECT COUNT(*), COUNT(DISTINCT number), MIN(number), MAX(number) FROM numbers")) {
                assertThat(count.code()).as(count.output()).isZero();
                assertThat(count.output().replace(" ", "")).contains("|%1$d|%1$d|1|%1$d|".formatted(ROWS));
            }
        }
    }

    private StokerProcess sql(Path client, String statements) throws IOException {
        return StokerProcess.start(
                directory, Map.of("FLINK_CONF_DIR", client.toString()), "sql", datasets.toString(), "-e", statements);
    }

    private long chunks() {
        Path chunks = datasets.resolve("numbers").resolve("chunks");
        if (!Files.exists(chunks)) {
            return 0;
        }
        try (Stream<Path> files = Files.walk(chunks)) {
            return files.filter(file -> file.toString().endsWith(".arrow")).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private long versions() throws IOException {
        try (ObjectStore store = Stores.open(datasets.resolve("numbers").toString())) {
            return Dataset.open(store).latestVersion();
        }
    }

    /** The failures of the only job. */
    private static JsonNode failures(FlinkCluster cluster) throws IOException {
        JsonNode jobs = JSON.readTree(cluster.rest("/jobs/overview")).path("jobs");
        assertThat(jobs).hasSize(1);
        String job = jobs.path(0).path("jid").asText();
        return JSON.readTree(cluster.rest("/jobs/" + job + "/exceptions")).at("/exceptionHistory/entries");
    }
}
