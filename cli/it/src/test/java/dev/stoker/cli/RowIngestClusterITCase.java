package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.metadata.Contents;
import dev.stoker.metadata.Dataset;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Ingests of rows with the job jar on a real cluster: one JobManager and two TaskManagers, each a process with a
 * separate address.
 */
@Timeout(400)
@Tag("full-programs")
class RowIngestClusterITCase {
    private static final JsonMapper JSON = new JsonMapper();
    private static final int FILES = 16;
    private static final int ROWS = 15_000;

    @TempDir
    private Path directory;

    private final Map<String, String> expected = new TreeMap<>();

    @Test
    void anIngestCommitsEachRowOnceAlthoughATaskManagerIsKilled() throws Exception {
        writeRows();
        try (FlinkCluster cluster = new FlinkCluster(directory, Map.of())) {
            cluster.startJobManager();
            cluster.startTaskManager("tm1", "127.0.0.3");
            cluster.startTaskManager("tm2", "127.0.0.4");
            cluster.awaitTaskManagers(2);
            ingestAndKill(cluster, "shuffled", "tm2");
            cluster.startTaskManager("tm3", "127.0.0.5");
            cluster.awaitTaskManagers(2);
            ingestAndKill(cluster, "listed", "tm1");
        }
    }

    private void writeRows() throws IOException {
        Path source = Files.createDirectories(directory.resolve("source"));
        for (int file = 0; file < FILES; file++) {
            StringBuilder lines = new StringBuilder();
            for (int row = 0; row < ROWS; row++) {
                String key = "row" + file + "-" + row;
                String text = "text of " + row * 31 % 977;
                lines.append("{\"id\":\"").append(key).append("\",\"text\":\"").append(text);
                lines.append("\"}\n");
                expected.put(key, "train text=" + text);
            }
            Files.writeString(source.resolve("part-" + file + ".jsonl"), lines);
        }
    }

    private void ingestAndKill(FlinkCluster cluster, String order, String victim) throws Exception {
        Path target = directory.resolve(order);
        String said = cluster.run(
                "-d",
                FlinkCluster.job("ingest"),
                directory.resolve("source").toString(),
                target.toString(),
                "--key=id",
                "--order=" + order,
                "--chunk-size=16kb",
                "--parallelism=2");
        Matcher job = Pattern.compile("JobID ([0-9a-f]{32})").matcher(said);
        assertThat(job.find()).as(said).isTrue();
        cluster.await(() -> chunks(target) >= 4, "chunk files");
        assertThat(versions(target)).isZero();
        cluster.kill(victim);
        cluster.await(() -> versions(target) > 0, "version");
        cluster.await(
                () -> cluster.rest("/jobs/" + job.group(1)).contains("\"state\":\"FINISHED\""), "end of the ingest");
        assertThat(failures(cluster, job.group(1))).isNotEmpty();
        assertThat(versions(target)).isEqualTo(1);
        assertThat(Contents.of(target.toString())).isEqualTo(expected);
    }

    private static long chunks(Path target) {
        Path chunks = target.resolve("chunks");
        if (!Files.exists(chunks)) {
            return 0;
        }
        try (Stream<Path> files = Files.walk(chunks)) {
            return files.filter(file -> file.toString().endsWith(".arrow")).count();
        } catch (IOException | UncheckedIOException e) {
            // Temporary files come and go.
            return 0;
        }
    }

    private static long versions(Path target) {
        try (ObjectStore store = Stores.open(target.toString())) {
            return Dataset.open(store).latestVersion();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static JsonNode failures(FlinkCluster cluster, String job) throws IOException {
        return JSON.readTree(cluster.rest("/jobs/" + job + "/exceptions")).at("/exceptionHistory/entries");
    }
}
