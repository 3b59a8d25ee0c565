package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Contents;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import dev.stoker.storage.hadoop.HadoopSettings;
import dev.stoker.storage.hadoop.HdfsCluster;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Exports, and commands with {@code --flink}, on a real cluster: one JobManager and two TaskManagers, each a process
 * with a separate address. The dataset is on HDFS.
 */
@Timeout(400)
@Tag("full-programs")
class ExportClusterITCase {
    private static final int SAMPLES = 4000;

    @TempDir
    private Path directory;

    private final Map<String, String> files = new TreeMap<>();
    private String hdfs;

    @BeforeEach
    void ingest() throws Exception {
        HadoopSettings.use(Map.of());
        hdfs = HdfsCluster.shared().uri() + "/" + UUID.randomUUID();
        for (int i = 0; i < SAMPLES; i++) {
            String key = "class" + i % 4 + "/" + i + ".bin";
            files.put(key, "content " + i + "\n".repeat(i % 50));
            Path file = directory.resolve("source").resolve(key);
            Files.createDirectories(file.getParent());
            Files.writeString(file, files.get(key));
        }
        stoker(
                "ingest",
                directory.resolve("source").toString(),
                hdfs + "/data",
                "--label-from=parent-dir",
                "--payload=data",
                "--chunk-size=16kb");
    }

    @AfterEach
    void clear() {
        HadoopSettings.clear();
    }

    private static void stoker(String... args) {
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said, true);
        assertThat(Stoker.run(List.of(args), out, out)).as(said::toString).isZero();
    }

    @Test
    void anExportIsCompleteOrAbsent() throws Exception {
        try (FlinkCluster cluster = FlinkCluster.quick(directory)) {
            cluster.startJobManager();
            cluster.startTaskManager("tm1", "127.0.0.3");
            cluster.startTaskManager("tm2", "127.0.0.4");
            cluster.awaitTaskManagers(2);
            survivesARoundTripOnHdfs(cluster);
            maintainsADataset(cluster);
            isCompleteAlthoughATaskManagerIsKilled(cluster);
            isAbsentIfNoTaskManagerIsLeft(cluster);
        }
    }

    private void survivesARoundTripOnHdfs(FlinkCluster cluster) throws Exception {
        assertThat(export(cluster, hdfs + "/parquet", "--format=parquet", "--shards=3", "--where=label <> 'class2'"))
                .contains("3,000 samples of version 1 in 3 files")
                .contains("left out: 1,000 samples that --where excludes");
        String again = directory.resolve("again").toString();
        stoker("ingest", hdfs + "/parquet", again, "--key=key", "--label=label", "--payload=data");
        Map<String, String> expected = Contents.of(hdfs + "/data");
        expected.keySet().removeIf(key -> key.startsWith("class2/"));
        assertThat(Contents.of(again)).isEqualTo(expected);
    }

    private void maintainsADataset(FlinkCluster cluster) throws Exception {
        String data = hdfs + "/grown";
        for (int part = 0; part < 4; part++) {
            stoker(
                    "ingest",
                    directory.resolve("source/class" + part).toString(),
                    data,
                    part == 0 ? "--payload=data" : "--append",
                    "--chunk-size=16kb",
                    "--no-index");
        }
        Map<String, String> samples = Contents.of(data);

        assertThat(onCluster(cluster, "verify", data)).contains("4,000 samples", "no damage found");
        assertThat(onCluster(cluster, "compact", data, "--chunk-size=64kb")).contains("4,000 samples", ": version 5");
        assertThat(onCluster(cluster, "index", data)).contains("version 5: ", "written");
        stoker("index", data, "--check");
        assertThat(Contents.of(data)).isEqualTo(samples);

        try (ObjectStore store = Stores.open(data)) {
            for (ObjectInfo file : store.list("_stoker/").toList()) {
                if (!file.name().equals(DatasetLayout.DATASET_JSON)) {
                    store.delete(file.name());
                }
            }
        }
        assertThat(onCluster(cluster, "rebuild", data)).contains("the newest has 4,000 samples");
        stoker("index", data, "--check");
        assertThat(Contents.of(data)).isEqualTo(samples);
    }

    private String onCluster(FlinkCluster cluster, String verb, String data, String... options) throws Exception {
        List<String> args = new ArrayList<>(List.of(verb, data, "--flink", cluster.restAddress()));
        args.addAll(List.of(options));
        try (StokerProcess process = StokerProcess.start(directory, args.toArray(String[]::new))) {
            int code = process.code();
            assertThat(code).as(process.output()).isZero();
            return process.output();
        }
    }

    private void isCompleteAlthoughATaskManagerIsKilled(FlinkCluster cluster) throws Exception {
        Path target = directory.resolve("whole");
        export(cluster, target.toString(), "-d", "--format=files", "--columns=key,data", "--shards=8");
        cluster.await(() -> writtenBeside(target) > 20, "files of the export");
        assertThat(target).doesNotExist();
        cluster.kill("tm1");
        cluster.await(() -> Files.exists(target.resolve("_SUCCESS")), "complete export");
        Map<String, String> found = content(target);
        found.remove("_SUCCESS");
        assertThat(found.keySet()).containsExactlyInAnyOrderElementsOf(files.keySet());
        assertThat(found).isEqualTo(files);
        assertThat(stagingOf(target)).isEmpty();
    }

    private void isAbsentIfNoTaskManagerIsLeft(FlinkCluster cluster) throws Exception {
        Path target = directory.resolve("absent");
        String said = export(cluster, target.toString(), "-d", "--format=files", "--columns=key,data", "--shards=8");
        Matcher job = Pattern.compile("JobID ([0-9a-f]{32})").matcher(said);
        assertThat(job.find()).as(said).isTrue();
        cluster.await(() -> writtenBeside(target) > 20, "files of the export");
        cluster.kill("tm2");
        cluster.flink("cancel", job.group(1));
        cluster.await(
                () -> cluster.rest("/jobs/" + job.group(1)).contains("\"state\":\"CANCELED\""), "end of the export");
        assertThat(target).doesNotExist();
        stoker("export", hdfs + "/data", target.toString(), "--format=files", "--columns=key,data");
        assertThat(content(target)).containsAllEntriesOf(files).hasSize(SAMPLES + 1);
    }

    /** Runs the job with two subtasks. An option -d belongs to {@code flink run}. */
    private String export(FlinkCluster cluster, String target, String... options) throws Exception {
        List<String> args = new ArrayList<>(List.of("-c", "dev.stoker.export.ExportJob"));
        List<String> own = new ArrayList<>(List.of(options));
        if (own.remove("-d")) {
            args.add("-d");
        }
        args.addAll(List.of(FlinkCluster.job("ingest"), hdfs + "/data", target, "--parallelism=2"));
        args.addAll(own);
        return cluster.run(args.toArray(String[]::new));
    }

    private static List<Path> stagingOf(Path target) throws IOException {
        try (Stream<Path> beside = Files.list(target.getParent())) {
            return beside.filter(path -> path.getFileName().toString().startsWith("." + target.getFileName()))
                    .toList();
        }
    }

    private static long writtenBeside(Path target) {
        try {
            long count = 0;
            for (Path staging : stagingOf(target)) {
                try (Stream<Path> files = Files.find(staging, 3, (path, attributes) -> attributes.isRegularFile())) {
                    count += files.count();
                }
            }
            return count;
        } catch (IOException | UncheckedIOException e) {
            // Temporary files come and go.
            return 0;
        }
    }

    private static Map<String, String> content(Path target) throws IOException {
        Map<String, String> content = new TreeMap<>();
        try (Stream<Path> all = Files.walk(target)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                content.put(target.relativize(file).toString(), Files.readString(file, StandardCharsets.UTF_8));
            }
        }
        return content;
    }
}
