package dev.stoker.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.export.spec.InvalidExportException;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.ingest.IngestJob;
import dev.stoker.ingest.IngestOptions;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.removal.SampleRemoval;
import dev.stoker.storage.LocalObjectStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class ExportJobTest {
    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(new MiniClusterResourceConfiguration.Builder()
            .setNumberTaskManagers(2)
            .setNumberSlotsPerTaskManager(2)
            .build());

    private static final ExportListener SILENT = new ExportListener() {};

    @TempDir
    private Path directory;

    private Map<String, byte[]> ingest(int count) throws Exception {
        Map<String, byte[]> files = new TreeMap<>();
        for (int i = 0; i < count; i++) {
            byte[] content = new byte[500 + i];
            Arrays.fill(content, (byte) i);
            Path file = directory.resolve("source/d" + i % 7 + "/" + i + ".bin");
            Files.createDirectories(file.getParent());
            Files.write(file, content);
            files.put("d" + i % 7 + "/" + i + ".bin", content);
        }
        IngestJob.run(
                IngestOptions.parse(
                        directory.resolve("source").toString(),
                        directory.resolve("data").toString(),
                        "--chunk-size=16kb"),
                launcher(),
                IngestListener.silent());
        return files;
    }

    private static JobLauncher launcher() {
        return JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment());
    }

    private ExportOptions options(String... options) {
        List<String> args = new ArrayList<>(List.of(
                directory.resolve("data").toString(), directory.resolve("out").toString()));
        args.addAll(List.of(options));
        return ExportOptions.parse(args.toArray(new String[0]));
    }

    private ExportResult export(String... options) throws Exception {
        return ExportJob.run(options(options), launcher(), SILENT);
    }

    private void remove(Collection<String> keys) throws Exception {
        Dataset dataset = Dataset.open(new LocalObjectStore(directory.resolve("data")));
        new VersionCommitter(dataset, Clock.systemUTC(), "test")
                .commit(VersionRequest.remove("removal-1", SampleRemoval.ofKeys(dataset, keys), Map.of()));
    }

    private Map<String, byte[]> exported() throws IOException {
        Path out = directory.resolve("out");
        Map<String, byte[]> files = new TreeMap<>();
        try (Stream<Path> all = Files.walk(out)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                files.put(out.relativize(file).toString(), Files.readAllBytes(file));
            }
        }
        assertThat(files.remove("_SUCCESS")).isNotNull();
        return files;
    }

    private long writtenSoFar() throws IOException {
        try (Stream<Path> beside = Files.list(directory)) {
            Path staging = beside.filter(path -> path.getFileName().toString().startsWith(".out.export-"))
                    .findFirst()
                    .orElse(null);
            if (staging == null) {
                return 0;
            }
            try (Stream<Path> files = Files.find(staging, 3, (path, attributes) -> attributes.isRegularFile())) {
                return files.count();
            } catch (UncheckedIOException e) {
                // Temporary files come and go.
                return 0;
            }
        }
    }

    @Test
    void removedSamplesAreNotExported() throws Exception {
        Map<String, byte[]> files = ingest(200);
        List<String> removed =
                files.keySet().stream().filter(key -> key.hashCode() % 3 == 0).toList();
        remove(removed);
        ExportResult result = export("--format=files", "--shards=3");
        files.keySet().removeAll(removed);
        assertThat(result.samples()).isEqualTo(files.size());
        assertThat(exported()).containsExactlyInAnyOrderEntriesOf(files);
    }

    @Test
    void onlySamplesThatSatisfyTheConditionAreExported() throws Exception {
        Map<String, byte[]> files = ingest(200);
        String where = "key >= 'd3/' AND key < 'd5/' OR key = 'd0/7.bin'";
        List<String> plan = ExportJob.plan(options("--format=files", "--where=" + where));
        assertThat(plan).contains("where  " + where);
        ExportResult result = export("--format=files", "--shards=5", "--where=" + where);
        files.keySet().removeIf(key -> !key.matches("d[34]/.*|d0/7.bin"));
        assertThat(plan).contains("rows   " + files.size() + " of the first 200 samples satisfy --where");
        assertThat(exported()).containsExactlyInAnyOrderEntriesOf(files);
        assertThat(result.samples()).isEqualTo(files.size());
        assertThat(result.excluded()).isEqualTo(200 - files.size());
        assertThat(result.lines()).contains("left out: " + (200 - files.size()) + " samples that --where excludes");
    }

    @Test
    void aConditionThatIsNeverTrueLeavesFilesWithoutRows() throws Exception {
        ingest(20);
        ExportResult result = export("--format=parquet", "--shards=2", "--where=key = 'none'");
        assertThat(result.samples()).isZero();
        assertThat(result.excluded()).isEqualTo(20);
        assertThat(exported()).hasSize(2);
    }

    @Test
    void aConditionThatDoesNotFitTheDatasetIsAnErrorBeforeTheExport() throws Exception {
        ingest(20);
        assertThatThrownBy(() -> export("--format=parquet", "--where=Key = 'a' AND size > 3"))
                .isInstanceOfSatisfying(
                        InvalidExportException.class,
                        e -> assertThat(e.problems())
                                .containsExactly(
                                        "option --where: the dataset has no column Key; it has key, data",
                                        "option --where: the dataset has no column size; it has key, data"));
        assertThatThrownBy(() -> export("--format=parquet", "--where=key = 3"))
                .hasMessage("option --where: the column key of type utf8 cannot be compared with 3, which is a number;"
                        + " give text");
        assertThat(directory.resolve("out")).doesNotExist();
    }

    @Test
    void aVersionWithoutSamplesBecomesOneFileWithoutRows() throws Exception {
        remove(ingest(20).keySet());
        ExportResult result = export("--format=parquet");
        assertThat(result.samples()).isZero();
        assertThat(exported()).containsOnlyKeys("data-00000-of-00001.parquet");
    }

    @Test
    void anExportSurvivesTheLossOfItsTaskManagers(@InjectMiniCluster MiniCluster cluster) throws Exception {
        Map<String, byte[]> files = ingest(3000);
        CompletableFuture<ExportResult> export = CompletableFuture.supplyAsync(() -> {
            try {
                return export("--format=files", "--shards=8", "--parallelism=2");
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        while (writtenSoFar() < 20 && !export.isDone()) {
            Thread.onSpinWait();
        }
        cluster.terminateTaskManager(0).get();
        cluster.startTaskManager();
        cluster.terminateTaskManager(1).get();
        cluster.startTaskManager();
        assertThat(export.get().samples()).isEqualTo(files.size());
        assertThat(exported()).containsExactlyInAnyOrderEntriesOf(files);
        try (Stream<Path> beside = Files.list(directory)) {
            assertThat(beside.map(path -> path.getFileName().toString()))
                    .containsExactlyInAnyOrder("source", "data", "out");
        }
    }
}
